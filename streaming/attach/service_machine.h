// The life of an attached process, as its group and its operator see it: its stages, its events, and which event
// leads from which stage to which. docs/lane-states.md draws it, and a test compares the drawing with this table.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "attach/transition_table.h"

namespace nustream::attach {

enum class ServiceStage : std::uint8_t {
  joining,   ///< the group has not let this process in yet
  serving,   ///< it is in its group, with lanes or without
  outside,   ///< it was in the group, which now goes on without it, or no broker has answered for a session
  draining,  ///< it was told to end: every lane commits and publishes what it has
  closing,   ///< no lane is left, and it leaves the group
  over,
};

enum class ServiceEvent : std::uint8_t {
  assigned,   ///< the group has let this process in
  went_out,   ///< the group has counted it out, or no broker has answered for a session
  shut_down,  ///< by a signal, a failure, or because no lane can go on
  drained,    ///< the last lane is gone
  closed,     ///< it has left the group, or waits no longer for that
  timed_out,  ///< not everything was committed within kafka.drain_seconds
};

inline constexpr std::array service_stage_names{std::string_view("joining"), std::string_view("serving"),
                                                std::string_view("outside"), std::string_view("draining"),
                                                std::string_view("closing"), std::string_view("over")};
inline constexpr std::array service_event_names{std::string_view("assigned"),  std::string_view("went_out"),
                                                std::string_view("shut_down"), std::string_view("drained"),
                                                std::string_view("closed"),    std::string_view("timed_out")};

namespace machine {

using ServiceStages = StateSet<ServiceStage>;
using ServiceRule = Rule<ServiceStage, ServiceEvent>;

inline constexpr ServiceStages living{ServiceStage::joining, ServiceStage::serving, ServiceStage::outside};
inline constexpr ServiceStages ending{ServiceStage::draining, ServiceStage::closing, ServiceStage::over};

inline constexpr std::array service_rules{
    ServiceRule{living, ServiceEvent::assigned, ServiceStage::serving},
    ServiceRule{ending, ServiceEvent::assigned, std::nullopt},  // its partitions are given back at the end
    ServiceRule{{ServiceStage::serving}, ServiceEvent::went_out, ServiceStage::outside},
    ServiceRule{living, ServiceEvent::shut_down, ServiceStage::draining},
    ServiceRule{ending, ServiceEvent::shut_down, std::nullopt},
    ServiceRule{{ServiceStage::draining}, ServiceEvent::drained, ServiceStage::closing},
    ServiceRule{{ServiceStage::closing, ServiceStage::over}, ServiceEvent::drained, std::nullopt},
    ServiceRule{{ServiceStage::closing}, ServiceEvent::closed, ServiceStage::over},
    ServiceRule{{ServiceStage::draining, ServiceStage::closing}, ServiceEvent::timed_out, ServiceStage::over},
};

inline constexpr TransitionTable<ServiceStage, service_stage_names.size(), ServiceEvent, service_event_names.size()>
    service_table(service_rules);

}  // namespace machine

[[nodiscard]] constexpr std::string_view name(ServiceStage stage) {
  return service_stage_names[static_cast<std::size_t>(stage)];
}
[[nodiscard]] constexpr std::string_view name(ServiceEvent event) {
  return service_event_names[static_cast<std::size_t>(event)];
}

/// The stage after the event. A contract: the process ends where the event is not allowed in that stage.
[[nodiscard]] inline ServiceStage next(ServiceStage stage, ServiceEvent event) {
  return machine::service_table.after(stage, event, "an event of the process came in a stage that does not allow it");
}

/// True once the process was told to end.
[[nodiscard]] constexpr bool is_ending(ServiceStage stage) {
  return machine::ending.contains(stage);
}

}  // namespace nustream::attach
