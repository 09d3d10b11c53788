// Where a lane of this process stands, for the operator.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace nustream::serve {

enum class LaneStatus : std::uint8_t {
  waiting,    ///< assigned, not started: beyond max_lanes, a topic lacks its partition, or fenced and not yet back
  restoring,  ///< reading its state and finishing what its last owner left
  running,
  draining,  ///< committing what it has and handing over
  finished,  ///< reached its stop offset, horizon or budget; everything is published
  failed,    ///< stopped by exit reason 65: input or state contradicts what was committed
};
inline constexpr std::array lane_statuses{LaneStatus::waiting,  LaneStatus::restoring, LaneStatus::running,
                                          LaneStatus::draining, LaneStatus::finished,  LaneStatus::failed};

[[nodiscard]] constexpr std::string_view name(LaneStatus state) noexcept {
  constexpr std::array<std::string_view, lane_statuses.size()> names{"waiting",  "restoring", "running",
                                                                     "draining", "finished",  "failed"};
  return names[static_cast<std::size_t>(state)];
}

/// True where nothing stands between the lane and its next release but records: what readiness asks of every lane.
[[nodiscard]] constexpr bool restored(LaneStatus state) noexcept {
  return state == LaneStatus::running || state == LaneStatus::draining || state == LaneStatus::finished;
}

/// The life of the process, as readiness sees it.
enum class Phase : std::uint8_t {
  starting,   ///< no assignment yet
  serving,    ///< assigned, perhaps no lane at all
  rejoining,  ///< was assigned, and is out of its group: brokers that are gone, or let it in again in a while
  draining,   ///< told to end
};

inline constexpr std::array phases{Phase::starting, Phase::serving, Phase::rejoining, Phase::draining};

[[nodiscard]] constexpr std::string_view name(Phase phase) noexcept {
  constexpr std::array<std::string_view, phases.size()> names{"starting", "serving", "rejoining", "draining"};
  return names[static_cast<std::size_t>(phase)];
}

}  // namespace nustream::serve
