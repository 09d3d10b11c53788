// Algorithm 2 of the IV paper on second moments instead of rows: a full-batch gradient needs ZᵀZ, ZᵀX and Zᵀy alone,
// so a step costs the same whatever the table's length is.
#include "nustream/inference/two_stage_descent.h"

#include <Eigen/Core>

#include "moments.h"
#include "nustream/base/error.h"

namespace nustream::inference {

std::vector<double> two_stage_descent(const TableView& table, const TwoStageDescent& descent) {
  const descent::TwoStageShape& shape = descent.shape;
  NUSTREAM_REQUIRE(table.dimension == shape.row(), "a row is [z, x]");
  NUSTREAM_REQUIRE(descent.start.empty() || descent.start.size() == shape.dimension(), "a start is [beta, Theta]");
  const auto q = static_cast<Eigen::Index>(shape.instruments);
  const auto w = static_cast<Eigen::Index>(shape.controls);
  const auto e = static_cast<Eigen::Index>(shape.endogenous);
  Moments moments = moments_of(table);
  // The divisor counts all rows, also those without a target, which are rows of zeros to both stages.
  moments.gram /= static_cast<double>(table.rows());
  moments.targets /= static_cast<double>(table.rows());
  const auto zz = moments.gram.topLeftCorner(q, q);
  const auto zx = moments.gram.topRightCorner(q, e);
  const auto zy = moments.targets.head(q);

  Eigen::VectorXd beta = Eigen::VectorXd::Zero(w + e);
  Eigen::MatrixXd theta = Eigen::MatrixXd::Zero(q, e);
  if (!descent.start.empty()) {
    beta = Eigen::Map<const Eigen::VectorXd>(descent.start.data(), w + e);
    theta = Eigen::Map<const Eigen::MatrixXd>(descent.start.data() + w + e, q, e);
  }
  Eigen::MatrixXd fits = Eigen::MatrixXd::Identity(q, w + e);  // x̂ = fitsᵀz; controls are their own fits
  for (std::uint64_t t = 0; t < descent.steps.value(); ++t) {
    fits.rightCols(e) = theta;
    // Both gradients are taken before either iterate moves, as in descent::TwoStageLoop.
    const Eigen::VectorXd of_second = fits.transpose() * (zz * (fits * beta) - zy) + descent.l2 * beta;
    const Eigen::MatrixXd of_first = zz * theta - zx + descent.first_l2 * theta;
    beta -= descent.schedule.at(StepIndex{t}) * of_second;
    descent.projection.apply({beta.data(), static_cast<std::size_t>(beta.size())});
    theta -= descent.first_schedule.at(StepIndex{t}) * of_first;
  }
  return {beta.data(), beta.data() + beta.size()};
}

}  // namespace nustream::inference
