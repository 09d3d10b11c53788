// What the settings of running sums mean: the lane's own settings, and their noise as a mechanism.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "config/mechanism.h"
#include "nustream/base/units.h"
#include "nustream/moments/lane.h"
#include "nustream/noise/correlation.h"

namespace nustream::config {

/// How the noise of running sums is correlated. Nobody has to choose ν, because the best ν follows from what is
/// summed (docs/configuration.md). With a memory of N records, ν is every/N, whose encoder forgets as the sums do.
/// For K releases, the noise is the rational correlation at ν = .8/K with 5 poles, which ends there. Otherwise ν is
/// 1e-6, which runs for ever at a finite spend.
[[nodiscard]] noise::Correlation correlation_of(const Moments& moments, std::uint64_t every);

/// The noise of all blocks, for records that take part as `participation` says (in steps). Its spend is that of one
/// mechanism with moments::joint_multiplier(), which costs what all blocks together cost a record. Throws
/// InvalidParameter and Unsupported as moments::calibrate() does. Contract: config.moments is there.
[[nodiscard]] Mechanism moments_mechanism(const Config& config, const privacy::Participation& participation,
                                          std::optional<StepCount> steps);

/// The number of coefficients that a lane begins about: those of the iterate for a descent, inputs × responses for
/// running sums.
[[nodiscard]] std::size_t centre_size(const Config& config);
/// Those coefficients, from the parameters that releases show, in working coordinates. They equal the parameters,
/// except for instrumental variables by running sums, whose centre is the reduced form of [β, Π].
[[nodiscard]] std::vector<double> centre_of(const Config& config, std::vector<double> parameters);

/// The settings of a lane with the noise of `mechanism`, which was made from the same configuration.
[[nodiscard]] moments::Settings moments_settings(const Config& config, const Mechanism& mechanism);

}  // namespace nustream::config
