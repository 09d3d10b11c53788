// Covariances of what is solved from running sums, by privacy and by sampling: intervals are computed from these. The
// sampling part is what the noisy spread of residuals says of the covariance of Σ x r.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <optional>
#include <span>

#include "nustream/moments/estimate.h"

namespace nustream::moments {

/// The factor by which E min(r², b²) exceeds E min(r², a²) for normal r, where E min(r², a²) = mean·a² and b =
/// ratio·a ≥ a. A `mean` above .9 counts as .9, because hardly anything of the residuals is seen then.
[[nodiscard]] double grown_within(double mean, double ratio) noexcept;

/// The share of normal residuals r beyond ±a, where E min(r², a²) = mean·a².
[[nodiscard]] double share_beyond(double mean) noexcept;

/// Numbers of steps, weighted as the sums weigh them.
struct Weights {
  double recentred = 0;  ///< steps of stages behind the first: those that are in the spread
  double all = 0;        ///< all steps
  double second = 0;     ///< steps in the H that stands beside the spread: all of them where the sums forget
  double squares = 0;    ///< Σ of the squared weights of all steps, by which sampling is multiplied
};
[[nodiscard]] Weights weights_of(const RunningSums& sums, const Estimate& estimate, std::uint64_t steps);

/// The covariance of Σ x r over the sampled rows, with what noise leaves uncertain of it.
struct Meat {
  Eigen::MatrixXd value;
  double stddev;        ///< standard deviation of the noise of one entry
  double relative = 0;  ///< standard deviation of a factor of all entries, in units of that factor
};

/// The covariance for Σ_k a_k r_k after `steps` steps, where `combination` is a; a sandwich is that of the target
/// alone. Empty where no spread is kept, where no stage was recentred, and where noise hides how many residuals there
/// are.
[[nodiscard]] std::optional<Meat> meat_of(const RunningSums& sums, const Frame& frame,
                                          std::span<const double> covariance, const Estimate& estimate,
                                          std::span<const double> combination, std::uint64_t steps);

/// The covariance of Σ_k a_k θ̂_k by privacy alone (see privacy_covariance()). `combination` holds a, one weight for
/// each response.
[[nodiscard]] std::optional<Eigen::MatrixXd> privacy_of(const RunningSums& sums, const Frame& frame,
                                                        std::span<const double> covariance, const Estimate& estimate,
                                                        std::span<const double> combination);
/// The same where eigenvalues of H may be floored: H⁻¹ has the floored ones, as in estimate().
[[nodiscard]] Eigen::MatrixXd floored_privacy_of(const RunningSums& sums, const Frame& frame,
                                                 std::span<const double> covariance, const Estimate& estimate,
                                                 std::span<const double> combination);
/// The covariance by privacy and by sampling, where the spread gives the latter. It is quadratic in the weights,
/// except that a sandwich is that of the target alone, whatever the weights are.
[[nodiscard]] std::optional<Eigen::MatrixXd> covariance_of(const RunningSums& sums, const Frame& frame,
                                                           std::span<const double> covariance,
                                                           const Estimate& estimate,
                                                           std::span<const double> combination, StepCount steps);

}  // namespace nustream::moments
