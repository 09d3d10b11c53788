// The quantities that all rooms use, each of them a type of its own. Symbols: docs/notation.md.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "nustream/base/strong.h"

namespace nustream {

namespace tag {
struct StepIndex : AnyValue {
  static constexpr const char* name = "step";
};
struct StepCount : AnyValue {
  static constexpr const char* name = "steps";
};
struct Position : AnyValue {
  static constexpr const char* name = "position";
};
struct LaneId : AnyValue {
  static constexpr const char* name = "lane";
};
struct EpochId : AnyValue {
  static constexpr const char* name = "epoch";
};

/// The base of tags whose values are positive and finite.
struct PositiveFinite {
  static constexpr const char* allowed = "a finite number > 0";
  static bool valid(double value) noexcept { return std::isfinite(value) && value > 0; }
};
struct ClipNorm : PositiveFinite {
  static constexpr const char* name = "clip_norm";
};
struct Displacement : PositiveFinite {
  static constexpr const char* name = "displacement";
};
struct StepSize : PositiveFinite {
  static constexpr const char* name = "step_size";
};
struct NoiseMultiplier : PositiveFinite {
  static constexpr const char* name = "noise_multiplier";
};
struct NoiseStddev : PositiveFinite {
  static constexpr const char* name = "noise_stddev";
};
struct Sensitivity : PositiveFinite {
  static constexpr const char* name = "sensitivity";
};
struct Rho : PositiveFinite {
  static constexpr const char* name = "rho";
  static constexpr const char* allowed = "a finite number >= 0";
  static bool valid(double value) noexcept { return std::isfinite(value) && value >= 0; }
};
struct Epsilon : Rho {
  static constexpr const char* name = "epsilon";
};
struct Delta {
  static constexpr const char* name = "delta";
  static constexpr const char* allowed = "0 < delta < 1";
  static constexpr bool valid(double value) noexcept { return value > 0 && value < 1; }
};
struct Damping {
  static constexpr const char* name = "nu";
  static constexpr const char* allowed = "0 <= nu < 1";
  static constexpr bool valid(double value) noexcept { return value >= 0 && value < 1; }
};
}  // namespace tag

/// t, the absolute number of a step within its epoch, counted from 0.
using StepIndex = Strong<tag::StepIndex, std::uint64_t>;
/// A number of steps; T for a horizon.
using StepCount = Strong<tag::StepCount, std::uint64_t>;
/// Where the next unread record of a lane is: its ordinal in a recorded stream, or its offset in a log.
using Position = Strong<tag::Position, std::uint64_t>;
/// A lane is one order of records with its own noise and state.
using LaneId = Strong<tag::LaneId, std::uint32_t>;
/// A noise epoch of a lane, which is the life of one noise key.
using EpochId = Strong<tag::EpochId, std::uint32_t>;

/// G, the ℓ2 norm that gradients are clipped to, in gradient units.
using ClipNorm = Strong<tag::ClipNorm, double>;
/// Δ, how far one record can move one clipped gradient: G under zero-out, 2G under replace-one; in gradient units.
using Displacement = Strong<tag::Displacement, double>;
/// η, the size of a step.
using StepSize = Strong<tag::StepSize, double>;
/// σ, the standard deviation of the seed noise w per unit of Δ; dimensionless.
using NoiseMultiplier = Strong<tag::NoiseMultiplier, double>;
/// σΔ, the standard deviation of the seed noise w, in gradient units.
using NoiseStddev = Strong<tag::NoiseStddev, double>;
/// ‖C·e‖ over the worst participation, in units of Δ; dimensionless.
using Sensitivity = Strong<tag::Sensitivity, double>;
/// The ρ of zero-concentrated differential privacy.
using Rho = Strong<tag::Rho, double>;
using Epsilon = Strong<tag::Epsilon, double>;
using Delta = Strong<tag::Delta, double>;
/// ν, the damping of the ν-FTRL correlation.
using Damping = Strong<tag::Damping, double>;

/// σΔ from σ and Δ. The two are multiplied nowhere else.
[[nodiscard]] inline NoiseStddev noise_stddev(NoiseMultiplier multiplier, Displacement displacement) {
  return NoiseStddev{multiplier.value() * displacement.value()};
}

}  // namespace nustream
