// The life of a lane as the log tells it: one entry for each turn of it, with public facts alone.
#pragma once

#include <string>
#include <vector>

#include "error.h"
#include "nustream/base/units.h"

namespace nustream::attach {

/// The reason, and the exit code that stands for it.
struct LaneEnd {
  Exit code;
  std::string reason;  ///< for the operator
};

/// This process has the lane now, and goes on from what is committed. The event "lane_gained".
void say_gained(LaneId lane, EpochId epoch, StepCount steps, Position position);
/// The group gave the lane to another member before everything was committed here: that member takes up the last
/// commit. The event "lane_lost".
void say_lost(LaneId lane);
/// Everything that was stepped is committed and published, and the lane is free for another member. The event
/// "lane_drained".
void say_drained(LaneId lane);
/// The lane takes no further step in this process. The event is "budget_reached" where a budget or a horizon ends it,
/// "lane_finished" at its stop offset, and "lane_failed" otherwise.
void say_ended(LaneId lane, const LaneEnd& end);
/// These lanes hold the combined model up: the event "model_waits"; or none does any more: "model_goes_on".
void say_model_waits(const std::vector<LaneId>& waits_for);

}  // namespace nustream::attach
