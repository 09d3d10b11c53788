// Maps between original, placed and whitened coordinates. The whitening comes from a noisy H, and all the rest is
// public arithmetic.
#include "ranges/coordinates.h"

#include <algorithm>
#include <cmath>

#include "inference/symmetric.h"
#include "moments/triangle.h"
#include "nustream/base/error.h"

namespace nustream::ranges {

Whitening no_whitening(std::size_t dimension) {
  const auto d = static_cast<Eigen::Index>(dimension);
  return {Eigen::MatrixXd::Identity(d, d), Eigen::MatrixXd::Identity(d, d)};
}

Whitening whitening_of(std::span<const double> second, std::size_t dimension, double floor) {
  const Eigen::MatrixXd full = moments::full_matrix(second, dimension);
  const inference::SymmetricSpectrum spectrum = inference::symmetric_spectrum(full);
  NUSTREAM_REQUIRE(spectrum.converged, "second moments have eigenvalues");
  // The intercept's second moment counts the rows. Noise may have made it small or negative, so the floor holds for
  // it too.
  const double records = std::max(full(0, 0), floor);
  const Eigen::VectorXd roots = (spectrum.values.array().max(floor) / records).sqrt();
  return {spectrum.with(roots.cwiseInverse()), spectrum.with(roots)};
}

WayBack way_back(std::span<const Placement> placements) {
  const auto d = static_cast<Eigen::Index>(placements.size());  // the intercept takes the place of the target
  const Placement& target = placements.back();
  WayBack back{Eigen::MatrixXd::Zero(d, d), target.centre};
  // From y = offset + s_y(θ_0 + Σ θ_j (v_j − c_j)/s_j).
  back.matrix(0, 0) = target.scale;
  for (Eigen::Index j = 1; j < d; ++j) {
    const Placement& feature = placements[static_cast<std::size_t>(j) - 1];
    back.matrix(j, j) = target.scale / feature.scale;
    back.matrix(0, j) = -target.scale * feature.centre / feature.scale;
  }
  return back;
}

void to_table_units(const PublicUnits& units, TableFit& fit) {
  const double heaviest = units.weight * units.exposure;
  const double root = std::sqrt(heaviest);
  for (RowBounds* bounds : {&fit.pilot, &fit.bounds}) {
    bounds->inputs *= root;
    bounds->residuals *= root;
    bounds->balanced *= root;
    bounds->curvature *= units.weight;  // a weight times a mean, of which the exposure cancels
  }
  // The pilot bounds placed targets, and the answer of counts bounds the counts themselves.
  fit.bounds.residuals /= units.exposure;
  for (double* second : {&fit.largest_second, &fit.smallest_second, &fit.mean_weight}) *second *= heaviest;
  if (!fit.intervals.empty()) {
    fit.intervals.back().low /= units.exposure;
    fit.intervals.back().high /= units.exposure;
  }
  if (!fit.placements.empty()) {
    fit.placements.back().centre /= units.exposure;
    fit.placements.back().scale /= units.exposure;
  }
  // The mean of a count over T is T times its mean over 1.
  if (!fit.theta.empty()) fit.theta.front() -= std::log(units.exposure);
}

std::vector<std::size_t> undetermined(const Eigen::MatrixXd& directions, std::size_t hidden,
                                      const Eigen::MatrixXd& to_original) {
  // Nothing bounds what a hidden direction may hold, so only a coefficient that hardly lies along it stands. A larger
  // share would not do: of a + b − sum = 0 a tenth lies along a small column a, and noise takes some of that away.
  constexpr double hundredth = 0.01;
  std::vector<std::size_t> found;
  if (hidden == 0) return found;
  const Eigen::MatrixXd along = to_original * directions;
  for (Eigen::Index j = 0; j < along.rows(); ++j) {
    // The columns of `directions` are orthonormal, so the squares of a row's parts add up to its squared length.
    const double of_hidden = along.row(j).head(static_cast<Eigen::Index>(hidden)).squaredNorm();
    if (of_hidden >= hundredth * along.row(j).squaredNorm()) found.push_back(static_cast<std::size_t>(j));
  }
  return found;
}

std::vector<double> deviations(const Eigen::MatrixXd& covariance) {
  const Eigen::VectorXd roots = covariance.diagonal().cwiseSqrt();
  return {roots.begin(), roots.end()};
}

}  // namespace nustream::ranges
