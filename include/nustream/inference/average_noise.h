// What privacy noise leaves in an average of iterates along one eigenvector of the Hessian.
#pragma once

#include <cstdint>

#include "nustream/noise/correlation.h"

namespace nustream::inference {

/// Iterates e_{t+1} = (1 − ηλ) e_t − η z_t, e_0 = 0, and the mean of e_{from+1}, …, e_{steps}, e_t with the weight
/// decay^{steps − t}.
struct AveragedDescent {
  double step_size;    ///< η > 0
  double curvature;    ///< λ ≥ 0, regularisation included
  std::uint64_t from;  ///< steps before the average begins, < steps
  std::uint64_t steps;
  double decay = 1;  ///< in (0, 1]; 1: the plain mean
};

/// Variance of that mean for z = B w, w of unit variance. Exact: by doubling the covariance of the filter's state for
/// correlations with a recurrence (independent, rational, damped anti-PGD), O(m³ log steps); from the coefficients,
/// O(steps), for the others. Throws Unsupported for trees and for more than 2^22 steps without a recurrence.
[[nodiscard]] double averaged_noise_variance(const noise::Correlation& correlation, const AveragedDescent& descent);

}  // namespace nustream::inference
