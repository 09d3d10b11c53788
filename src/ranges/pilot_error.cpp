#include "ranges/pilot_error.h"

#include <algorithm>
#include <cmath>

#include "inference/symmetric.h"
#include "moments/sampling.h"
#include "nustream/base/error.h"

namespace nustream::ranges {

Eigen::MatrixXd left_of_pilot(const Eigen::MatrixXd& second, const ClippedResiduals& residuals,
                              const Eigen::MatrixXd& of_pilot) {
  const auto relative = inference::relative_spectrum(residuals.meat, second);
  NUSTREAM_REQUIRE(relative.has_value(), "second moments of which no direction is hidden");
  const double bound = residuals.bound * residuals.bound;
  // The spectral norm of the noise is about √(2d) times the deviation of an entry.
  const double noise = residuals.stddev * std::sqrt(2 * static_cast<double>(second.rows())) / relative->smallest;
  const double of_most = 1.3 * residuals.middle * residuals.middle + noise;
  const Eigen::VectorXd shares = relative->spectrum.values.unaryExpr([&](double square) {
    const double mean = std::clamp(square / bound, 0.0, 1.0);
    return std::clamp((square - of_most) / bound, moments::share_beyond(mean), 1.0);
  });
  const Eigen::MatrixXd left = relative->inverse * relative->spectrum.with(shares) * relative->root;
  return left * of_pilot * left.transpose();
}

}  // namespace nustream::ranges
