// How many steps ahead a line of the ledger reserves, so that an epoch has tens of lines and not one for each commit.
#pragma once

#include <cstdint>
#include <optional>

#include "nustream/base/units.h"

namespace nustream::engine {

/// The most steps that a line reserves ahead. A stream that takes a step a second takes so many in less than a day.
inline constexpr std::uint64_t reserved_ahead_max = 65'536;

/// How many steps a line pays for that is written with a commit after `taken` steps. For example, after 5 steps it
/// pays for 8. It pays up to the next power of two above `taken`, at most reserved_ahead_max ahead, and for 0 after 0
/// steps. Where further steps cost nothing more (`grows` is false) it pays for all steps up to `furthest`, or, where
/// that is not given, up to the next power of two. It never pays beyond `furthest`, where budget or horizon end the
/// epoch, nor for less than `taken`.
///
/// It is a function of step counts and settings alone, so that what the ledger says depends on no record.
[[nodiscard]] StepCount reserved_steps(StepCount taken, std::optional<StepCount> furthest, bool grows);

}  // namespace nustream::engine
