#include "engine/reservation.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace nustream::engine {

StepCount reserved_steps(StepCount taken, std::optional<StepCount> furthest, bool grows) {
  const std::uint64_t steps = taken.value();
  // Before its first step an epoch reserves nothing, so that an epoch that is never used costs nothing.
  if (steps == 0) return taken;
  if (!grows && furthest) return std::max(taken, *furthest);
  constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max() / 2;
  std::uint64_t reserved = steps < last ? std::bit_ceil(steps + 1) : steps;
  if (grows) reserved = std::min(reserved, steps + reserved_ahead_max);
  if (furthest) reserved = std::min(reserved, furthest->value());
  return StepCount{std::max(reserved, steps)};
}

}  // namespace nustream::engine
