#include "ranges/pilot_error.h"

#include <algorithm>
#include <cmath>

#include "inference/symmetric.h"
#include "moments/clipped_normal.h"

namespace nustream::ranges {

Eigen::MatrixXd left_of_pilot(const Eigen::MatrixXd& second, const ClippedResiduals& residuals,
                              const Eigen::MatrixXd& of_pilot) {
  const inference::SymmetricSpectrum lengths = inference::symmetric_spectrum(second);
  const Eigen::VectorXd roots = lengths.values.cwiseSqrt();
  const Eigen::MatrixXd root = lengths.vectors * roots.asDiagonal() * lengths.vectors.transpose();
  const Eigen::MatrixXd inverse = lengths.vectors * roots.cwiseInverse().asDiagonal() * lengths.vectors.transpose();
  const inference::SymmetricSpectrum squares = inference::symmetric_spectrum(inverse * residuals.meat * inverse);
  const double bound = residuals.bound * residuals.bound;
  // The spectral norm of the noise is about √(2d) times the deviation of an entry.
  const double noise = residuals.stddev * std::sqrt(2 * static_cast<double>(second.rows())) / lengths.values(0);
  const double of_most = 1.3 * residuals.middle * residuals.middle + noise;
  const Eigen::VectorXd shares = squares.values.unaryExpr([&](double square) {
    const double mean = std::clamp(square / bound, 0.0, 1.0);
    return std::clamp((square - of_most) / bound, moments::share_beyond(mean), 1.0);
  });
  const Eigen::MatrixXd left = inverse * squares.vectors * shares.asDiagonal() * squares.vectors.transpose() * root;
  return left * of_pilot * left.transpose();
}

}  // namespace nustream::ranges
