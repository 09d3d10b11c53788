#include "ranges/pilot.h"

#include "inference/symmetric.h"

namespace nustream::ranges {

PartDesign part_design(const FitSettings& settings, std::size_t dimension, const RowBounds& bounds,
                       const Eigen::VectorXd& centre) {
  const moments::Design of{{dimension, 0}, moments::Spread::none, {settings.adjacency, false}};
  return {of, {}, settings.rho, {bounds.inputs, 1, bounds.residuals}, {centre.begin(), centre.end()}, {}};
}

Pilot pilot(WorkingRows& rows, const Part& part, const FitSettings& settings, const RowBounds& bounds,
            const DrawNoise& draw) {
  const auto d = static_cast<std::size_t>(rows.dimension());
  PartDesign design = part_design(settings, d, bounds, Eigen::VectorXd::Zero(rows.dimension()));
  design.shares = {0.5, 0.5};
  design.stages = {KeyStage::pilot_second, KeyStage::pilot_target};
  const PartSums found = sum_part(
      design, [&](const AddRow& add) { rows.each(part, add); }, draw);
  const moments::Estimate estimate = moments::estimate(found.sums, found.frame, alone);
  const Whitening whitening = whitening_of(found.sums.stages().front().second, d, estimate.floor);
  const Eigen::MatrixXd floored = whitening.restore * whitening.restore;
  const Eigen::VectorXd eigenvalues = inference::symmetric_eigenvalues(floored);
  return {Eigen::Map<const Eigen::VectorXd>(estimate.theta.data(), rows.dimension()), floored, whitening,
          eigenvalues.maxCoeff(), eigenvalues.minCoeff()};
}

}  // namespace nustream::ranges
