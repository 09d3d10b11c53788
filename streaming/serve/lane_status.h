// What a lane of this process is doing, for the operator.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace nustream::serve {

enum class LaneStatus : std::uint8_t {
  /// Assigned but not started: beyond max_lanes, without its partition in a topic, or fenced and not yet back.
  waiting,
  restoring,  ///< reads its state and finishes what its last owner left
  running,
  draining,  ///< commits what it has and hands over
  finished,  ///< has reached its stop offset, horizon or budget; everything is published
  failed,    ///< was stopped by exit reason 65: input or state contradicts what was committed
};
inline constexpr std::array lane_statuses{LaneStatus::waiting,  LaneStatus::restoring, LaneStatus::running,
                                          LaneStatus::draining, LaneStatus::finished,  LaneStatus::failed};

[[nodiscard]] constexpr std::string_view name(LaneStatus state) noexcept {
  constexpr std::array<std::string_view, lane_statuses.size()> names{"waiting",  "restoring", "running",
                                                                     "draining", "finished",  "failed"};
  return names[static_cast<std::size_t>(state)];
}

/// Whether the lane needs nothing but records for its next release. Readiness asks this of every lane.
[[nodiscard]] constexpr bool restored(LaneStatus state) noexcept {
  return state == LaneStatus::running || state == LaneStatus::draining || state == LaneStatus::finished;
}

/// What the process is doing, as readiness sees it.
enum class Phase : std::uint8_t {
  starting,   ///< has no assignment yet
  serving,    ///< has an assignment, perhaps of no lane at all
  rejoining,  ///< was assigned and has left its group: brokers are gone, or will let it in again in a while
  draining,   ///< was told to end
};

inline constexpr std::array phases{Phase::starting, Phase::serving, Phase::rejoining, Phase::draining};

[[nodiscard]] constexpr std::string_view name(Phase phase) noexcept {
  constexpr std::array<std::string_view, phases.size()> names{"starting", "serving", "rejoining", "draining"};
  return names[static_cast<std::size_t>(phase)];
}

}  // namespace nustream::serve
