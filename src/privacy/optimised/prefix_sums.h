// The prefix-sum loss of a Toeplitz encoder, with its gradient; private to the privacy room.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nustream/privacy/optimised.h"

namespace nustream::privacy::optimised {

/// The weight of P_s² in the error, where P_s = Σ_{r≤s} β_r. Since E_t = Σ_{s≤t} P_s², the largest error is that
/// of the last step, whose weights are 1, and the mean error has the weights (T − s)/T.
[[nodiscard]] std::vector<double> error_weights(const PrefixSums& problem);

/// The loss sens² · error of the column (1, x_1, …, x_{W−1}), with
///
///     sens² = ‖V‖², V = Σ_{i<k'} S^{ib} c;   error = Σ_s weight_s P_s², P = 1/((1 − x) c(x)).
///
/// The derivative is dP = −Q dc with Q = P/c as power series, so d error/dc_j = −2 Σ_s weight_s P_s Q_{s−j}. Where
/// records take part several times, this is the loss only if the column stays within b entries or falls from c_1
/// on. O(T W).
class ToeplitzLoss {
 public:
  explicit ToeplitzLoss(const PrefixSums& problem);
  /// Returns the loss, which is +∞ where it overflows, and writes the gradient.
  double operator()(std::span<const double> x, std::span<double> gradient);

 private:
  double error(std::span<double> gradient);
  double squared_sensitivity(std::span<double> gradient);

  std::size_t steps_;
  std::size_t times_;  // k' = min(k, ⌈T/b⌉)
  std::size_t separation_;
  std::vector<double> weights_;
  std::vector<double> c_;
  std::vector<double> prefix_;     // P
  std::vector<double> quotient_;   // Q
  std::vector<double> met_;        // V
  std::vector<double> of_error_;   // d error/dc
  std::vector<double> of_square_;  // d sens²/dc
};

}  // namespace nustream::privacy::optimised
