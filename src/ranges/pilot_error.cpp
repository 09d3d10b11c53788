#include "ranges/pilot_error.h"

#include <cmath>
#include <numbers>

#include "inference/symmetric.h"

namespace nustream::ranges {
namespace {

/// E min(z², c²)/c² of a normal z with deviation 1, which falls in c from 1 to 0.
double mean_within(double c) noexcept {
  const double beyond = std::erfc(c / std::numbers::sqrt2);
  const double density = std::exp(-c * c / 2) / std::sqrt(2 * std::numbers::pi);
  return beyond + (1 - beyond - 2 * c * density) / (c * c);
}

}  // namespace

double share_beyond(double mean) noexcept {
  double low = 0x1p-7;
  double high = 0x1p7;
  for (int i = 0; i < 50; ++i) {
    const double middle = std::sqrt(low * high);
    (mean_within(middle) > mean ? low : high) = middle;
  }
  return std::erfc(low / std::numbers::sqrt2);
}

Eigen::MatrixXd left_of_pilot(const Eigen::MatrixXd& second, const Eigen::MatrixXd& meat, double bound,
                              const Eigen::MatrixXd& of_pilot) {
  const inference::SymmetricSpectrum moments = inference::symmetric_spectrum(second);
  const Eigen::VectorXd roots = moments.values.cwiseSqrt();
  const Eigen::MatrixXd root = moments.vectors * roots.asDiagonal() * moments.vectors.transpose();
  const Eigen::MatrixXd inverse = moments.vectors * roots.cwiseInverse().asDiagonal() * moments.vectors.transpose();
  const inference::SymmetricSpectrum means =
      inference::symmetric_spectrum(inverse * meat * inverse / (bound * bound));
  const Eigen::VectorXd shares = means.values.unaryExpr([](double mean) { return share_beyond(mean); });
  const Eigen::MatrixXd left = inverse * means.vectors * shares.asDiagonal() * means.vectors.transpose() * root;
  return left * of_pilot * left.transpose();
}

}  // namespace nustream::ranges
