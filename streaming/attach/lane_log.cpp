// The entries of a lane's life. They are about steps, offsets and ends, which are public, and never about what
// records hold.
#include "attach/lane_log.h"

#include <cstdint>

#include <fmt/format.h>

#include "log/log.h"

namespace nustream::attach {
namespace {

log::Field field_of(LaneId lane) {
  return {"lane", std::uint64_t{lane.value()}};
}

}  // namespace

void say_gained(LaneId lane, EpochId epoch, StepCount steps, Position position) {
  log::info("lane_gained",
            fmt::format("lane {}: restored at step {} of epoch {}, goes on from offset {}", lane.value(),
                        steps.value(), epoch.value(), position.value()),
            {field_of(lane),
             {"epoch", std::uint64_t{epoch.value()}},
             {"step", steps.value()},
             {"offset", position.value()}});
}

void say_lost(LaneId lane) {
  log::warning(
      "lane_lost",
      fmt::format(
          "lane {} is no longer this instance's; whoever has it next goes on from the last commit, and nothing is "
          "lost",
          lane.value()),
      {field_of(lane)});
}

void say_drained(LaneId lane) {
  log::info("lane_drained",
            fmt::format("lane {}: everything is committed and published; it is free for others", lane.value()),
            {field_of(lane)});
}

void say_ended(LaneId lane, const LaneEnd& end) {
  // A budget that is used up and a stop that is reached are ends that were asked for, and no warnings.
  const bool failed = end.code != Exit::exhausted && end.code != Exit::done;
  const std::string_view event = end.code == Exit::exhausted ? "budget_reached"
                                 : end.code == Exit::done    ? "lane_finished"
                                                             : "lane_failed";
  log::write({failed ? log::Level::warning : log::Level::info,
              event,
              fmt::format("lane {} stopped: {}", lane.value(), end.reason),
              {field_of(lane), {"exit_code", static_cast<std::uint64_t>(end.code)}}});
}

void say_model_waits(const std::vector<LaneId>& waits_for) {
  if (waits_for.empty()) {
    log::info("model_goes_on", "the combined model goes on");
    return;
  }
  std::string lanes;
  for (const LaneId lane : waits_for) lanes += (lanes.empty() ? "" : ", ") + std::to_string(lane.value());
  log::warning(
      "model_waits",
      fmt::format("the combined model waits for lane{} {}: the last release there was made under other settings "
                  "or another promise; the model goes on once {} a release under these settings",
                  waits_for.size() == 1 ? "" : "s", lanes,
                  waits_for.size() == 1 ? "that lane makes" : "those lanes make"),
      {{"lanes", lanes}});
}

}  // namespace nustream::attach
