// The pilot: moments about 0 over its own part, half of ρ each for H and for the target's moments, solved above the
// floor. From its noisy H come the whitening and the eigenvalues. left_of_pilot() says how much of its error is left
// in the answer.
#include "ranges/pilot.h"

#include <algorithm>
#include <cmath>

#include "inference/symmetric.h"
#include "moments/sampling.h"
#include "moments/triangle.h"
#include "nustream/base/error.h"

namespace nustream::ranges {

PartDesign part_design(const FitSettings& settings, bool of_users, const RowBounds& bounds,
                       const Eigen::VectorXd& centre) {
  const auto dimension = static_cast<std::size_t>(centre.size());
  const moments::Design of{{dimension, 0}, moments::Spread::none, {settings.adjacency, false, of_users}};
  return {of, {}, settings.rho, {bounds.inputs, 1, bounds.residuals}, {centre.begin(), centre.end()}, {}};
}

Pilot pilot(WorkingRows& rows, const Part& part, const FitSettings& settings, const RowBounds& bounds,
            const DrawNoise& draw) {
  const auto d = static_cast<std::size_t>(rows.dimension());
  PartDesign design = part_design(settings, rows.are_of_users(), bounds, Eigen::VectorXd::Zero(rows.dimension()));
  design.shares = {0.5, 0.5};
  design.stages = {KeyStage::pilot_second, KeyStage::pilot_target};
  const PartSums found = sum_part(
      design, [&](const AddRow& add, const EndUser& end) { rows.each(part, add, end); }, draw);
  const moments::Estimate estimate = moments::estimate(found.sums, found.frame, alone);
  const Whitening whitening = whitening_of(found.sums.stages().front().second, d, estimate.floor);
  // These are per record of the part, whose number is public: noise may hide how many of them are usable.
  const Eigen::MatrixXd noisy = moments::full_matrix(found.sums.stages().front().second, d);
  // Of users' records only a share counts, and the intercept's second moment is the sum of these shares.
  const double counted = std::max(noisy(0, 0), estimate.floor);
  const double records = rows.are_of_users() ? counted : static_cast<double>(part.count);
  const Eigen::VectorXd eigenvalues = inference::symmetric_eigenvalues(noisy).array().max(estimate.floor) / records;
  // Each row enters with its weight's root, so the intercept's second moment is the sum of the weights.
  const double weight = rows.are_weighted() ? counted / static_cast<double>(part.count) : 1;
  const Eigen::MatrixXd second = whitening.restore * whitening.restore;
  // The intercept's 1 is the first input.
  const Eigen::VectorXd means = second.col(0) / second(0, 0);
  const Eigen::MatrixXd floored = moments::floored_privacy_of(found.sums, found.frame, alone, estimate, alone);
  return {Eigen::Map<const Eigen::VectorXd>(estimate.theta.data(), rows.dimension()),
          second,
          whitening,
          eigenvalues.maxCoeff(),
          eigenvalues.minCoeff(),
          weight,
          moments::privacy_of(found.sums, found.frame, alone, estimate, alone),
          std::sqrt(means.dot(floored * means))};
}

Eigen::MatrixXd left_of_pilot(const Eigen::MatrixXd& second, const ClippedResiduals& residuals,
                              const Eigen::MatrixXd& of_pilot) {
  const auto relative = inference::relative_spectrum(residuals.meat, second);
  NUSTREAM_REQUIRE(relative.has_value(), "second moments of which no direction is hidden");
  const double bound = residuals.bound * residuals.bound;
  // The spectral norm of the noise is about √(2d) times the deviation of an entry.
  const double noise = residuals.stddev * std::sqrt(2 * static_cast<double>(second.rows())) / relative->smallest;
  const double of_most = 1.3 * residuals.middle * residuals.middle + noise;
  const Eigen::VectorXd shares = relative->spectrum.values.unaryExpr([&](double square) {
    const double mean = std::clamp(square / bound, 0.0, 1.0);
    return std::clamp((square - of_most) / bound, moments::share_beyond(mean), 1.0);
  });
  const Eigen::MatrixXd left = relative->inverse * relative->spectrum.with(shares) * relative->root;
  return left * of_pilot * left.transpose();
}

}  // namespace nustream::ranges
