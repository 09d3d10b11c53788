// What the settings of running sums come to: the lane's own settings, and their noise as a mechanism.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "config/mechanism.h"
#include "nustream/base/units.h"
#include "nustream/moments/lane.h"
#include "nustream/noise/correlation.h"

namespace nustream::config {

/// How the noise of running sums is correlated: nobody has to choose ν, since an optimal one follows from what is
/// summed (docs/configuration.md). With a memory of N records ν = every/N, whose encoder forgets as the sums do; for
/// K releases the rational correlation at ν = .8/K with 5 poles, which ends there; else ν = 1e-6, for ever at a
/// finite spend.
[[nodiscard]] noise::Correlation correlation_of(const Moments& moments, std::uint64_t every);

/// The noise of all blocks for records that take part as `participation` says (in steps). Its spend is that of one
/// mechanism with moments::joint_multiplier(), which costs what all blocks cost a record at once. Throws
/// InvalidParameter and Unsupported as moments::calibrate() does. Contract: config.moments is there.
[[nodiscard]] Mechanism moments_mechanism(const Config& config, const privacy::Participation& participation,
                                          std::optional<StepCount> steps);

/// Coefficients that a lane is begun about: of a descent those of its iterate, of running sums inputs × responses.
[[nodiscard]] std::size_t centre_size(const Config& config);
/// The same from the parameters that releases show, in working coordinates: they are it, but for instrumental
/// variables by running sums, which are about the reduced form of [β, Π].
[[nodiscard]] std::vector<double> centre_of(const Config& config, std::vector<double> parameters);

/// Of a lane whose noise is that of `mechanism`, made of the same configuration.
[[nodiscard]] moments::Settings moments_settings(const Config& config, const Mechanism& mechanism);

}  // namespace nustream::config
