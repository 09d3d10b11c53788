// How far ahead a line of the ledger reserves, so that an epoch has tens of lines and not one for each commit.
#pragma once

#include <cstdint>
#include <optional>

#include "nustream/base/units.h"

namespace nustream::engine {

/// No line reserves more steps ahead than these: where a stream takes a step a second, those of less than a day.
inline constexpr std::uint64_t reserved_ahead_max = 65'536;

/// The steps that a line pays for which is written with a commit after `taken` steps: up to the next power of two,
/// which is behind them, and at most reserved_ahead_max ahead; 0 for 0. Where the spend `grows` no more with them the
/// line pays for all that are left, or to the next power of two. Never beyond `furthest`, where budget or horizon
/// end the epoch, nor below `taken`.
///
/// A function of step counts and settings alone: what the ledger says depends on no record.
[[nodiscard]] StepCount reserved_steps(StepCount taken, std::optional<StepCount> furthest, bool grows);

}  // namespace nustream::engine
