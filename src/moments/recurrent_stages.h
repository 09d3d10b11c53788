// StageNoise for correlations whose noise is computed from a few numbers.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <span>
#include <vector>

#include "noise/recurrence.h"

namespace nustream::moments {

/// Carries the covariance of (s_1 … s_m, N_1 … N_i), of noise states and stage sums, forward by powers of two. The
/// covariance after L steps of a stage follows from the one at its start by a block for each binary digit of L that
/// is 1, the longest first. So the result does not depend on which steps were asked for before. It is computed in
/// long double, because the poles' contributions cancel to a small remainder.
class RecurrentStages {
 public:
  RecurrentStages(noise::Recurrence noise, double kept);

  [[nodiscard]] std::vector<double> covariance(std::span<const std::uint64_t> firsts, std::uint64_t steps);

 private:
  using Real = long double;
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  /// A block of 2^k steps: every entry of x is multiplied by its own factor, then the entries before them, times
  /// `into_last`, are added to the last one; `spread` is what the seed noise of these steps adds to the covariance.
  struct Block {
    Vector factors, into_last;
    Matrix spread;

    /// The covariance after the block.
    [[nodiscard]] Matrix after(const Matrix& before) const;
  };
  /// The stage that is summed last, or the steps before the first one.
  struct Stage {
    std::uint64_t first;
    std::vector<Block> blocks;         // blocks of 1, 2, 4 … steps
    std::vector<std::uint64_t> steps;  // rising: after how many steps each of `reached` is
    std::vector<Matrix> reached;       // reached[0] is the covariance at `first`
  };

  [[nodiscard]] Block one_step(Eigen::Index size, bool in_a_stage) const;
  [[nodiscard]] const Matrix& after(Stage& stage, std::uint64_t steps);
  void open(std::uint64_t first);

  noise::Recurrence noise_;
  Real kept_;
  std::vector<Stage> stages_;  // [0]: the steps before the first stage
};

}  // namespace nustream::moments
