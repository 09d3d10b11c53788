// Linear algebra on released sums: they are solved, penalised, restricted, added up, or turned on another feature. H
// carries noise and may be indefinite, so nothing here assumes that it is positive definite. Solutions are about a
// centre: where noise hides a direction, they stay near it.
#include "nustream/moments/normal_equations.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/shown.h"
#include "inference/symmetric.h"
#include "moments/triangle.h"
#include "nustream/base/error.h"
#include "nustream/descent/second_moments.h"

namespace nustream::moments {
namespace {

/// An eigenvalue below this share of the largest is a rounding error. Its direction then stays at the centre.
constexpr double negligible = 1e-10;  // relative to the largest eigenvalue

Eigen::Map<const Eigen::MatrixXd> columns_of(const std::vector<double>& entries, std::size_t dimension) {
  return {entries.data(), static_cast<Eigen::Index>(dimension),
          static_cast<Eigen::Index>(entries.size() / dimension)};
}

std::vector<double> entries_of(const Eigen::MatrixXd& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

void check_nonnegative(const char* name, double value) {
  const bool in_range = std::isfinite(value) && value >= 0;
  if (!in_range) throw InvalidParameter(name, shown(value), "a finite number >= 0");
}

/// Sizes are the caller's contract, and a wrong one ends the process. What users name, such as features, is refused
/// by an exception.
void check_sizes(const NormalEquations& equations) {
  NUSTREAM_REQUIRE(equations.dimension > 0, "equations have a feature");
  NUSTREAM_REQUIRE(equations.second.size() == descent::triangle_size(equations.dimension), "a triangle of H");
  NUSTREAM_REQUIRE(equations.gap.size() % equations.dimension == 0, "whole columns");
  NUSTREAM_REQUIRE(equations.gap.size() == equations.centre.size(), "a centre for every column");
}

void check_features(std::span<const std::size_t> features, std::size_t dimension) {
  if (features.empty()) throw InvalidParameter("features", "none", "at least one");
  for (std::size_t i = 0; i < features.size(); ++i) {
    const bool rises = i == 0 || features[i - 1] < features[i];
    if (features[i] >= dimension || !rises) {
      throw InvalidParameter("features", std::to_string(features[i]),
                             "rising numbers below " + std::to_string(dimension));
    }
  }
}

std::vector<Eigen::Index> indices_of(std::span<const std::size_t> features) {
  return {features.begin(), features.end()};
}

}  // namespace

FlooredSolution solve(const NormalEquations& equations, double floor) {
  check_sizes(equations);
  check_nonnegative("floor", floor);
  const Eigen::MatrixXd second = full_matrix(equations.second, equations.dimension);
  const Eigen::MatrixXd gap = columns_of(equations.gap, equations.dimension);
  if (!second.allFinite() || !gap.allFinite()) throw InvalidParameter("sums", "not finite", "finite numbers");
  const inference::SymmetricSpectrum spectrum = inference::symmetric_spectrum(second);
  NUSTREAM_REQUIRE(spectrum.converged, "the eigenvalues of a finite symmetric matrix");
  const double smallest = negligible * std::max(spectrum.values.cwiseAbs().maxCoeff(), 0.0);
  Eigen::VectorXd inverse(spectrum.values.size());
  std::size_t floored = 0;
  for (Eigen::Index j = 0; j < inverse.size(); ++j) {
    const double value = spectrum.values(j);
    const double raised = std::max(value, floor);
    // A floor above 0 is above `smallest` unless it is tiny beside H; a floor of 0 leaves collinear directions at the
    // centre.
    inverse(j) = raised > smallest ? 1 / raised : 0;
    floored += value < floor || !(value > smallest) ? 1 : 0;
  }
  // U diag(1/max(e, λ)) Uᵀ gap, for all columns at once.
  const Eigen::MatrixXd moved = spectrum.vectors * (inverse.asDiagonal() * (spectrum.vectors.transpose() * gap));
  const Eigen::MatrixXd theta = columns_of(equations.centre, equations.dimension) + moved;
  return {entries_of(theta), floored, {spectrum.values.data(), spectrum.values.data() + spectrum.values.size()}};
}

NormalEquations with_ridge(const NormalEquations& equations, double penalty) {
  check_sizes(equations);
  check_nonnegative("penalty", penalty);
  NormalEquations ridge = equations;
  std::size_t diagonal = 0;
  for (std::size_t i = 0; i < equations.dimension; ++i) {
    ridge.second[diagonal] += penalty;
    diagonal += equations.dimension - i;
  }
  // The ridge pulls the coefficients to 0 and not to the centre: (H + λI)(θ − c) = g − λc.
  for (std::size_t j = 0; j < ridge.gap.size(); ++j) ridge.gap[j] -= penalty * ridge.centre[j];
  return ridge;
}

NormalEquations subset(const NormalEquations& equations, std::span<const std::size_t> features) {
  check_sizes(equations);
  check_features(features, equations.dimension);
  const Eigen::MatrixXd second = full_matrix(equations.second, equations.dimension);
  const Eigen::MatrixXd centre = columns_of(equations.centre, equations.dimension);
  // The gap is about a centre in which the features that are left out have coefficients as well. So the cross
  // moments, gap + H c, are formed first, and then the gap about the chosen features' own centre.
  const Eigen::MatrixXd targets = columns_of(equations.gap, equations.dimension) + second * centre;
  const std::vector<Eigen::Index> chosen = indices_of(features);
  const Eigen::MatrixXd own = second(chosen, chosen);
  const Eigen::MatrixXd about = centre(chosen, Eigen::all);
  const Eigen::MatrixXd gap = targets(chosen, Eigen::all) - own * about;
  return {features.size(), isometric(own), entries_of(gap), entries_of(about)};
}

NormalEquations added(std::span<const NormalEquations> parts) {
  if (parts.empty()) throw InvalidParameter("sums", "none", "at least one");
  NormalEquations whole = parts.front();
  check_sizes(whole);
  const std::size_t d = whole.dimension;
  std::vector<double> distance(d);
  for (const NormalEquations& part : parts.subspan(1)) {
    if (part.dimension != d || part.gap.size() != whole.gap.size()) {
      throw InvalidParameter("sums", "of another size", "as many features and columns as the first ones");
    }
    check_sizes(part);
    for (std::size_t j = 0; j < whole.second.size(); ++j) whole.second[j] += part.second[j];
    for (std::size_t first = 0; first < whole.gap.size(); first += d) {
      for (std::size_t j = 0; j < d; ++j) distance[j] = part.centre[first + j] - whole.centre[first + j];
      const std::vector<double> moved = times_triangle(part.second, distance);
      // A part's gap is about the part's own centre c'. About c it is larger by H'(c' − c).
      for (std::size_t j = 0; j < d; ++j) whole.gap[first + j] += part.gap[first + j] + moved[j];
    }
  }
  return whole;
}

NormalEquations for_feature(const NormalEquations& equations, std::size_t target,
                            std::span<const std::size_t> features) {
  check_sizes(equations);
  check_features(features, equations.dimension);
  check_features({&target, 1}, equations.dimension);
  if (std::ranges::find(features, target) != features.end()) {
    throw InvalidParameter("features", std::to_string(target) + ", the target", "the other ones");
  }
  const Eigen::MatrixXd second = full_matrix(equations.second, equations.dimension);
  const std::vector<Eigen::Index> chosen = indices_of(features);
  const Eigen::MatrixXd own = second(chosen, chosen);
  // A column of H holds the moments of the features with this one. About a centre of 0 they are the gap.
  const Eigen::MatrixXd targets = second(chosen, std::vector<Eigen::Index>{static_cast<Eigen::Index>(target)});
  return {features.size(), isometric(own), entries_of(targets), std::vector<double>(features.size())};
}

}  // namespace nustream::moments
