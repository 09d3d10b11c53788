// From means of reports to a model: the spectrum of the noisy second moment is repaired, ŵ_ols follows, and the scale
// c is found over public rows (NLDP Algorithm 1, lines 5 to 12). Reports are private already, so everything here is
// post-processing; the warnings about noise read nothing else.
#include "nustream/inference/local_solver.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "inference/symmetric.h"
#include "nustream/base/error.h"

namespace nustream::inference {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::Index;
using Eigen::VectorXd;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// What the public rows say about x alone.
struct PublicMoments {
  double smallest_eigenvalue = unknown;
  double mean_shift = unknown;
};

Eigen::Map<const RowMajor> matrix(std::span<const double> x, std::size_t columns) {
  return {x.data(), static_cast<Index>(x.size() / columns), static_cast<Index>(columns)};
}

VectorXd weights_of(const PublicRows& rows, std::size_t count) {
  if (rows.weights.empty()) return VectorXd::Ones(static_cast<Index>(count));
  return Eigen::Map<const VectorXd>(rows.weights.data(), static_cast<Index>(count));
}

/// The least eigenvalue of the rows' second moment, and how far their mean is from 0 as a share of their size. NaN
/// without rows.
PublicMoments public_moments(const PublicRows& rows, std::size_t p) {
  if (rows.x.empty()) return {};
  const auto x = matrix(rows.x, p);
  const VectorXd weights = weights_of(rows, rows.x.size() / p);
  const double total = weights.sum();
  const RowMajor weighted = weights.asDiagonal() * x;
  const Eigen::MatrixXd second_moment = x.transpose() * weighted / total;
  const VectorXd mean = weighted.colwise().sum().transpose() / total;
  const double least = symmetric_eigenvalues(second_moment)(0);
  const double trace = second_moment.trace();
  // An eigenvalue so small is what rounding leaves of 0.
  const double smallest = least > 1e-12 * trace ? least : 0.0;
  return {smallest, trace > 0 ? mean.norm() / std::sqrt(trace) : 0.0};
}

/// The inverse of the spectrum after the repair: one factor for each eigenvector, which is 0 where the eigenvector is
/// left out.
VectorXd inverse_spectrum(const VectorXd& eigenvalues, double noise, const LocalSolverSettings& settings,
                          LocalSpectrum& spectrum) {
  const VectorXd raised = eigenvalues.array() + settings.ridge;
  spectrum.ridge = settings.ridge;
  spectrum.repair = LocalRepair::none;
  spectrum.rank = static_cast<std::size_t>(eigenvalues.size());
  // The eigenvalues rise, so the first one decides whether a repair is needed.
  if (settings.repair == LocalRepair::none || raised(0) >= noise) return raised.cwiseInverse();
  spectrum.repair = settings.repair;
  if (settings.repair == LocalRepair::ridge) {
    const double lift = noise - raised(0);
    spectrum.ridge += lift;
    return (raised.array() + lift).inverse();
  }
  spectrum.rank = static_cast<std::size_t>((raised.array() >= noise).count());
  return (raised.array() >= noise).select(raised.cwiseInverse(), 0.0);
}

/// Noise of a mean falls as 1/√n, so n·(noise/signal)² reports make the two equal.
SignalToNoise compare(double signal, double noise, double reports) {
  const double ratio = signal > 0 ? noise / signal : infinity;
  return {signal, noise, noise > signal, reports * ratio * ratio, false};
}

/// The least eigenvalue of E x xᵀ against the spectral norm of the noise.
SignalToNoise second_moment_signal(const LocalSpectrum& spectrum, double public_smallest, double noise,
                                   double reports) {
  if (!std::isnan(public_smallest)) return compare(public_smallest, noise, reports);
  // Without public rows the eigenvalue is known only to within the noise. By Weyl's inequality it is at most the
  // following.
  SignalToNoise result = compare(std::max(0.0, spectrum.smallest + noise), noise, reports);
  result.exceeded = noise > spectrum.smallest;
  result.at_least = true;
  return result;
}

/// The length of the cross moment without its noise, against that noise.
SignalToNoise cross_moment_signal(double length, double stddev, double dimension, double reports) {
  // E‖mean‖² = ‖signal‖² + noise². The square of the noise has the relative standard deviation √(2/p).
  const double noise = stddev * std::sqrt(dimension / reports);
  const double square = length * length - noise * noise;
  const double seen = 2 * noise * noise * std::sqrt(2 / dimension);
  SignalToNoise result = compare(std::sqrt(std::max(0.0, square)), noise, reports);
  if (square > seen) return result;
  result.reports_needed = compare(std::sqrt(std::max(0.0, square) + seen), noise, reports).reports_needed;
  result.at_least = true;
  return result;
}

void check(const LocalMoments& moments, const PublicRows& rows, const LocalSolverSettings& settings) {
  const std::size_t p = moments.cross_moment.size();
  if (p == 0 || moments.second_moment.size() != p * p || moments.reports == 0) {
    throw InvalidParameter("moments", std::to_string(p) + " features",
                           "p × p and p numbers over at least one report");
  }
  const bool finite = std::all_of(rows.x.begin(), rows.x.end(), [](double entry) { return std::isfinite(entry); });
  if (!finite) throw InvalidParameter("public_rows", "a number that is not finite", "finite numbers");
  if (rows.x.size() % p != 0 || (!rows.weights.empty() && rows.weights.size() != rows.x.size() / p)) {
    throw InvalidParameter("public_rows", std::to_string(rows.x.size()) + " numbers", "whole rows of the p features");
  }
  if (!std::isfinite(settings.ridge) || settings.ridge < 0) {
    throw InvalidParameter("ridge", std::to_string(settings.ridge), "a finite number >= 0");
  }
}

/// Fills in c and the model. Without public rows, or where f(c) = 1 has no root, there is no model.
void find_scale(const PublicRows& rows, const LocalSolverSettings& settings, LocalEstimate& estimate) {
  const std::size_t p = estimate.ols.size();
  const Eigen::Map<const VectorXd> ols(estimate.ols.data(), static_cast<Index>(p));
  if (settings.family == GlmFamily::linear) {
    estimate.scale = GlmScale{true, 1, 1, 0};
  } else if (!rows.x.empty()) {
    const VectorXd predictions = matrix(rows.x, p) * ols;
    const std::span<const double> values(predictions.data(), static_cast<std::size_t>(predictions.size()));
    estimate.scale = glm_scale(settings.family, values, rows.weights);
  }
  if (!estimate.scale || !estimate.scale->exists) return;
  estimate.model = estimate.ols;
  for (double& entry : *estimate.model) entry *= estimate.scale->c;
}

}  // namespace

std::string_view name(LocalRepair repair) noexcept {
  switch (repair) {
    case LocalRepair::ridge:
      return "ridge";
    case LocalRepair::pseudo_inverse:
      return "pseudo-inverse";
    case LocalRepair::none:
      return "none";
  }
  __builtin_unreachable();
}

LocalEstimate solve_local(const LocalMoments& moments, const LocalNoise& noise, const PublicRows& rows,
                          const LocalSolverSettings& settings) {
  check(moments, rows, settings);
  const std::size_t p = moments.cross_moment.size();
  const auto n = static_cast<double>(moments.reports);
  const auto dimension = static_cast<double>(p);
  const Eigen::MatrixXd second_moment = matrix(moments.second_moment, p);
  const Eigen::Map<const VectorXd> cross_moment(moments.cross_moment.data(), static_cast<Index>(p));
  const auto [converged, eigenvalues, eigenvectors] = symmetric_spectrum(second_moment);

  // The spectral norm of a symmetric matrix with independent entries of this variance, which is the edge of the
  // semicircle law.
  const double noise_norm = 2 * noise.second_moment.value() * std::sqrt(dimension / n);
  LocalEstimate estimate;
  LocalSpectrum& spectrum = estimate.spectrum;
  spectrum.smallest = eigenvalues(0);
  spectrum.largest = eigenvalues(eigenvalues.size() - 1);
  spectrum.definite = spectrum.smallest > 0;
  spectrum.condition = spectrum.definite ? spectrum.largest / spectrum.smallest : infinity;
  const VectorXd inverse = inverse_spectrum(eigenvalues, noise_norm, settings, spectrum);
  const VectorXd rotated = eigenvectors.transpose() * cross_moment;
  const VectorXd ols = eigenvectors * inverse.cwiseProduct(rotated);
  estimate.ols.assign(ols.data(), ols.data() + ols.size());

  const PublicMoments known = public_moments(rows, p);
  estimate.public_mean_shift = known.mean_shift;
  estimate.second_moment = second_moment_signal(spectrum, known.smallest_eigenvalue, noise_norm, n);
  estimate.cross_moment = cross_moment_signal(cross_moment.norm(), noise.cross_moment.value(), dimension, n);
  find_scale(rows, settings, estimate);
  return estimate;
}

}  // namespace nustream::inference
