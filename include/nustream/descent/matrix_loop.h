// The private descent loop of a parameter with several columns: one linear predictor each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nustream/descent/loop.h"

namespace nustream::descent {

class GradientSum;

/// As Loop, for losses of several predictors: a record's gradient is slopes ⊗ x, clipped as the matrix it is
/// (Frobenius norm ‖slopes‖·‖x‖ ≤ G). θ is d × predictors(loss), kept column by column. Stretches hold rows of d
/// entries, and noise of d · predictors(loss). A record whose target is no label adds nothing; its step is taken all
/// the same.
class MatrixLoop {
 public:
  /// Throws InvalidParameter where rule or start are out of range, or the loss has one predictor.
  MatrixLoop(const StepRule& rule, const noise::Grid& grid, std::span<const double> start);
  ~MatrixLoop();
  MatrixLoop(MatrixLoop&&) noexcept;
  MatrixLoop& operator=(MatrixLoop&&) noexcept;

  /// Takes the stretch's steps; `average` (d · predictors(loss), or empty) moves with them, as Loop's does.
  void run(const Stretch& stretch, std::span<double> average);

  /// d · predictors(loss) entries, column by column.
  [[nodiscard]] std::span<const double> theta() const noexcept { return theta_; }
  /// As many, where a resume goes on from.
  void set_theta(std::span<const double> theta);
  /// As Loop's.
  [[nodiscard]] std::span<const double> velocity() const noexcept { return velocity_; }
  void set_velocity(std::span<const double> velocity);
  /// Records whose gradient was longer than the clip norm. Operator side only.
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
