// A guess of E[xxᵀ] from public ranges: features are independent and uniform, so that the matrix is the means'
// product plus a diagonal of variances.
#include "config/estimator_choice.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace nustream::config {
namespace {

using Range = std::pair<double, double>;

/// What a transform can give, before clamp, centre and scale; empty where it has no bounds.
std::optional<Range> range_of(record::Transform transform) {
  if (record::is_indicator(transform)) return Range{0, 1};
  switch (transform) {
    case record::Transform::hour:
      return Range{0, 23};
    case record::Transform::day_of_week:
      return Range{0, 6};
    default:
      return std::nullopt;
  }
}

/// The range of the feature in working units; empty where a bound is missing.
std::optional<Range> working_range(const record::Feature& feature) {
  // A product of two terms has no range of its own here; only its clamp can bound it.
  const auto of_transform = feature.second ? std::nullopt : range_of(feature.first.transform);
  Range range = of_transform.value_or(Range{-INFINITY, INFINITY});
  range = {std::max(range.first, feature.lower), std::min(range.second, feature.upper)};
  if (!std::isfinite(range.first) || !std::isfinite(range.second)) return std::nullopt;
  return Range{(range.first - feature.center) / feature.scale, (range.second - feature.center) / feature.scale};
}

}  // namespace

PublicScale public_scale(const record::Schema& schema) {
  const auto d = static_cast<Eigen::Index>(schema.dimension());
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(d);
  Eigen::VectorXd variance = Eigen::VectorXd::Zero(d);
  PublicScale scale;
  Eigen::Index at = 0;
  if (schema.intercept) mean(at++) = 1;
  for (const record::Feature& feature : schema.features) {
    const auto range = working_range(feature);
    if (!range) {
      // A feature without a known range is taken to have size 1 about 0.
      scale.unknown.push_back(feature.name);
      variance(at++) = 1;
      continue;
    }
    mean(at) = (range->first + range->second) / 2;
    variance(at++) = std::pow(range->second - range->first, 2) / 12;  // the variance of a uniform distribution
  }
  // E[xxᵀ] = E[x]E[x]ᵀ + Cov(x), and the covariance of independent features is diagonal. The
  // intercept has variance 0.
  Eigen::MatrixXd second = mean * mean.transpose();
  second.diagonal() += variance;
  const Eigen::VectorXd values =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(second, Eigen::EigenvaluesOnly).eigenvalues();
  scale.eigenvalues.assign(values.begin(), values.end());
  return scale;
}

}  // namespace nustream::config
