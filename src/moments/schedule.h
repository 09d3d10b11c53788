// Says when the stages of a lane begin, and what its sums keep from step to step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "nustream/moments/lane.h"

namespace nustream::moments {

/// Throws InvalidParameter where the stages or the memory of the settings are out of range.
void check_schedule(const Settings& settings);
/// κ and its reach. After the reach, 60 halvings have taken a stage below any double's precision.
[[nodiscard]] Memory memory_of(const Settings& settings);
/// The radii of the stage that begins at this step; empty where none does.
[[nodiscard]] std::optional<Radii> stage_from(const Settings& settings, std::uint64_t step);
/// The number of the stage that a step is in, counted from 0.
[[nodiscard]] std::size_t stage_number(const Settings& settings, std::uint64_t step);
/// The first step of a stage, by its number.
[[nodiscard]] std::uint64_t stage_first(const Settings& settings, std::size_t number);

}  // namespace nustream::moments
