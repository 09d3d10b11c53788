// The private descent loop of a parameter with several columns, each of which gives one linear predictor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nustream/descent/loop.h"

namespace nustream::descent {

class GradientSum;

/// A Loop for losses of several predictors. The gradient of a record is the matrix slopes ⊗ x, and it is clipped as a
/// matrix (Frobenius norm ‖slopes‖·‖x‖ ≤ G). θ is d × predictors(loss), kept column by column. Stretches hold rows of
/// d entries and d · predictors(loss) entries of noise for each step. A record whose target is no label adds nothing;
/// its step is taken all the same.
class MatrixLoop {
 public:
  /// Throws InvalidParameter where the rule or `start` are out of range, or where the loss has one predictor.
  MatrixLoop(const StepRule& rule, const noise::Grid& grid, std::span<const double> start);
  ~MatrixLoop();
  MatrixLoop(MatrixLoop&&) noexcept;
  MatrixLoop& operator=(MatrixLoop&&) noexcept;

  /// Takes the steps of the stretch. `average` has d · predictors(loss) entries, or none, and is updated with them.
  void run(const Stretch& stretch, std::span<double> average);

  /// The iterate: d · predictors(loss) entries, column by column.
  [[nodiscard]] std::span<const double> theta() const noexcept { return theta_; }
  /// Replaces the iterate by as many entries, to restore a state.
  void set_theta(std::span<const double> theta);
  /// The velocity, as in Loop.
  [[nodiscard]] std::span<const double> velocity() const noexcept { return velocity_; }
  void set_velocity(std::span<const double> velocity);
  /// How many records had a gradient longer than the clip norm. Only the operator may see it.
  [[nodiscard]] std::uint64_t clipped() const noexcept { return clipped_; }

 private:
  StepRule rule_;
  double gradient_per_unit_;
  std::size_t columns_;
  std::size_t inputs_;  // d
  std::uint64_t clipped_ = 0;
  std::vector<double> theta_;
  std::vector<double> velocity_;  // empty without momentum
  std::vector<double> slopes_;
  std::unique_ptr<GradientSum> sum_;
};

}  // namespace nustream::descent
