// Computes what privacy noise leaves in an average of iterates along one eigenvector of the Hessian.
#pragma once

#include <cstdint>

#include "nustream/noise/correlation.h"

namespace nustream::inference {

/// The iterates e_{t+1} = (1 − ηλ) e_t − η z_t with e_0 = 0, and the mean of e_{from+1}, …, e_{steps}, in which e_t
/// has the weight decay^{steps − t}.
struct AveragedDescent {
  double step_size;    ///< η > 0
  double curvature;    ///< λ ≥ 0, regularisation included
  std::uint64_t from;  ///< steps before the average begins, < steps
  std::uint64_t steps;
  double decay = 1;  ///< in (0, 1]; 1 gives the plain mean
};

/// The variance of that mean for z = B w, w of unit variance. It is exact. Correlations with a recurrence
/// (independent, rational, damped anti-PGD) take O(m³ log steps), by doubling the covariance of the filter's state;
/// the others take O(steps), from their coefficients. Throws Unsupported for trees and for more than 2^22 steps
/// without a recurrence, and InvalidParameter for no iterate in the mean or a decay outside (0, 1].
[[nodiscard]] double averaged_noise_variance(const noise::Correlation& correlation, const AveragedDescent& descent);

}  // namespace nustream::inference
