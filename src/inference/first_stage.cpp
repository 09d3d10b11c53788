// F statistics of a first stage from private second moments, with what noise may have added taken off. Two
// regressions on the same moments, on all of z and on the controls alone, give what the instruments explain.
#include "nustream/inference/first_stage.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

#include "inference/symmetric.h"
#include "nustream/base/error.h"

namespace nustream::inference {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::MatrixXd;

/// What a regression of the last columns on the first `given` ones explains and leaves.
struct Regression {
  MatrixXd coefficients;  // given × regressors
  MatrixXd residual;      // xxᵀ of what the regression leaves
};

Regression regression(const MatrixXd& moments, Eigen::Index given, Eigen::Index regressors) {
  const MatrixXd own = moments.bottomRightCorner(regressors, regressors);
  if (given == 0) return {MatrixXd(0, regressors), own};
  const MatrixXd cross = moments.topRightCorner(moments.rows() - regressors, regressors).topRows(given);
  MatrixXd coefficients = moments.topLeftCorner(given, given).ldlt().solve(cross);
  MatrixXd residual = own - cross.transpose() * coefficients;
  return {std::move(coefficients), std::move(residual)};
}

/// The bounds of a figure that privacy noise may have moved.
struct Range {
  double lower;
  double upper;
  [[nodiscard]] bool decides() const { return (lower >= weak_first_stage) == (upper >= weak_first_stage); }
};

/// How far noise may have moved the parts of an F.
struct Allowance {
  double shrink;     // noise of the instruments' block relative to its least eigenvalue, < ½
  double amplitude;  // noise of √explained
  double residual;   // noise of the residual variance

  /// √F is an amplitude divided by the root of a residual variance. `explained` and `left` are what noisy moments say
  /// of the two.
  [[nodiscard]] Range around(double explained, double left, double freedom) const {
    const double root = std::sqrt(std::max(0.0, explained));
    const double low = std::max(0.0, root * std::sqrt(1 - shrink) - amplitude);
    const double high = root * std::sqrt(1 + shrink) + amplitude;
    return {freedom * low * low / (left + residual), freedom * high * high / (left - residual)};
  }
};

}  // namespace

std::optional<FirstStageStrength> first_stage_strength(std::span<const double> second_moments,
                                                       const descent::TwoStageShape& shape, std::uint64_t records,
                                                       double stddev) {
  constexpr double tail = 3.72;  // e^(−t²/2) = 1e-3
  const auto e = static_cast<Eigen::Index>(shape.row());
  const auto q = static_cast<Eigen::Index>(shape.instruments);
  const auto regressors = static_cast<Eigen::Index>(shape.endogenous);
  NUSTREAM_REQUIRE(second_moments.size() == shape.row() * shape.row(), "second moments of whole rows");
  // Otherwise there is no degree of freedom for the residual.
  if (records <= shape.instruments) return std::nullopt;
  const MatrixXd moments = Eigen::Map<const RowMatrix>(second_moments.data(), e, e);
  if (!moments.allFinite()) return std::nullopt;

  const double length = 2 * stddev * std::sqrt(static_cast<double>(e));  // spectral norm of the noise matrix
  const auto [coefficients, residual] = regression(moments, q, regressors);
  const double least_instrument = symmetric_eigenvalues(moments.topLeftCorner(q, q))(0);
  const SymmetricSpectrum left = symmetric_spectrum(residual);
  // The noise of the residual is (1, −b) E (1, −b)ᵀ.
  const double of_residual = length * std::pow(1 + coefficients.norm(), 2);
  if (!(least_instrument > 2 * length) || !(left.values(0) > 2 * of_residual)) return std::nullopt;

  // What the excluded instruments explain beyond the controls. Dividing by their number and by the residual variance
  // gives F.
  const MatrixXd explained =
      regression(moments, static_cast<Eigen::Index>(shape.controls), regressors).residual - residual;
  const auto excluded = static_cast<double>(shape.instruments - shape.controls);
  const double freedom = static_cast<double>(records - shape.instruments) / excluded;
  const auto allowance = [&](double columns, double error_of_residual) {
    const double reach = std::sqrt(excluded) + std::sqrt(columns) + tail;
    return Allowance{
        length / least_instrument,
        stddev * std::sqrt(0.5) * (1 + coefficients.norm()) * reach / std::sqrt(least_instrument - length),
        error_of_residual};
  };
  FirstStageStrength strength{{}, 0};
  for (Eigen::Index j = 0; j < regressors; ++j) {
    const Range f = allowance(1, of_residual).around(explained(j, j), residual(j, j), freedom);
    if (!f.decides()) return std::nullopt;
    strength.f.push_back(f.lower);
  }
  const MatrixXd root = left.with(left.values.cwiseSqrt().cwiseInverse());
  // Cragg and Donald's statistic: the least eigenvalue of what the instruments explain, relative to what they leave.
  const double least = symmetric_eigenvalues(root * explained * root)(0);
  // In units of the residual: both its own noise and that of the cross moments are relative to its least eigenvalue.
  Allowance relative = allowance(static_cast<double>(regressors), of_residual / left.values(0));
  relative.amplitude /= std::sqrt(left.values(0));
  const Range statistic = relative.around(least, 1, freedom);
  if (!statistic.decides()) return std::nullopt;
  strength.cragg_donald = statistic.lower;
  return strength;
}

}  // namespace nustream::inference
