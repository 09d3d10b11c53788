#include "nustream/inference/first_stage.h"

#include <Eigen/Dense>

#include <cmath>

#include "nustream/base/error.h"

namespace nustream::inference {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Solver = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;

/// xxᵀ of what is left of the last columns when the first `given` have explained what they can.
Eigen::MatrixXd unexplained(const Eigen::MatrixXd& moments, Eigen::Index given, Eigen::Index regressors) {
  const Eigen::MatrixXd own = moments.bottomRightCorner(regressors, regressors);
  if (given == 0) return own;
  const Eigen::MatrixXd cross = moments.topRightCorner(moments.rows() - regressors, regressors).topRows(given);
  return own - cross.transpose() * moments.topLeftCorner(given, given).ldlt().solve(cross);
}

double least_eigenvalue(const Eigen::MatrixXd& symmetric) {
  return Solver(symmetric, Eigen::EigenvaluesOnly).eigenvalues()(0);
}

}  // namespace

std::optional<FirstStageStrength> first_stage_strength(std::span<const double> second_moments,
                                                       const descent::TwoStageShape& shape, std::uint64_t records,
                                                       double stddev) {
  const auto e = static_cast<Eigen::Index>(shape.row());
  const auto q = static_cast<Eigen::Index>(shape.instruments);
  const auto regressors = static_cast<Eigen::Index>(shape.endogenous);
  NUSTREAM_REQUIRE(second_moments.size() == shape.row() * shape.row(), "second moments of whole rows");
  if (records <= shape.instruments) return std::nullopt;
  const Eigen::MatrixXd moments = Eigen::Map<const RowMatrix>(second_moments.data(), e, e);
  if (!moments.allFinite()) return std::nullopt;
  const double noise = 2 * stddev * std::sqrt(static_cast<double>(e));
  const Eigen::MatrixXd residual = unexplained(moments, q, regressors);
  if (!(least_eigenvalue(moments.topLeftCorner(q, q)) > noise) || !(least_eigenvalue(residual) > noise)) {
    return std::nullopt;
  }
  // What the excluded instruments explain beyond the controls, per instrument, over the residual variance.
  const Eigen::MatrixXd explained =
      unexplained(moments, static_cast<Eigen::Index>(shape.controls), regressors) - residual;
  const auto excluded = static_cast<double>(shape.instruments - shape.controls);
  const double freedom = static_cast<double>(records - shape.instruments) / excluded;
  FirstStageStrength strength{{}, 0};
  for (Eigen::Index j = 0; j < regressors; ++j) strength.f.push_back(freedom * explained(j, j) / residual(j, j));
  const Eigen::MatrixXd root = Solver(residual).operatorInverseSqrt();
  strength.cragg_donald = freedom * least_eigenvalue(root * explained * root);
  return strength;
}

}  // namespace nustream::inference
