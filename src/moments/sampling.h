// The sampling part of an interval: what the noisy spread of residuals says of the covariance of Σ x r.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <optional>
#include <span>

#include "nustream/moments/estimate.h"

namespace nustream::moments {

/// The covariance of Σ x r over the sampled rows, with what noise leaves uncertain of it.
struct Meat {
  Eigen::MatrixXd value;
  double stddev;        ///< standard deviation of the noise of one entry
  double relative = 0;  ///< standard deviation of a factor of all entries, in units of that factor
};

/// The covariance for Σ_k a_k r_k after so many steps, `combination` being a; a sandwich is of the target alone.
/// Empty where no spread is kept, where no stage was recentred, and where noise hides how many residuals there are.
[[nodiscard]] std::optional<Meat> meat_of(const RunningSums& sums, const Frame& frame,
                                          std::span<const double> covariance, const Estimate& estimate,
                                          std::span<const double> combination, std::uint64_t steps);

}  // namespace nustream::moments
