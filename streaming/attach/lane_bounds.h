// Where a lane begins and ends: turns kafka.start and kafka.stop into offsets of its partition.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/config.h"
#include "journal/state_record.h"
#include "kafka/lane_checks.h"
#include "kafka/partition.h"

namespace nustream::attach {

/// Where a lane ends, and which setting that offset was resolved from. Both are empty where the settings name no end.
struct Stop {
  std::optional<Position> position;
  std::string asked;  ///< as a state keeps it (docs/formats/kafka.md)
};

[[nodiscard]] Position position_of(kafka::Offset offset);

/// Asks the brokers through `checks`, which waits and throws as kafka::LaneChecks says. All references outlive it.
class LaneBounds {
 public:
  LaneBounds(const config::Config& config, const kafka::LanePlace& place, kafka::LaneChecks& checks)
      : kafka_(config.kafka), records_of_a_step_(config.descent.minibatch), place_(place), checks_(checks) {}

  /// Where a lane without a past begins: at kafka.start, or at the partition's first record where that is later.
  /// Throws Failure(configuration) where kafka.start is an offset beyond the partition's end.
  [[nodiscard]] Position start();
  /// Resolves kafka.stop against the partition's present content.
  [[nodiscard]] Stop stop();
  /// Where a lane with the state `record` ends. A "latest" or a time is resolved once; the log says so. The offset is
  /// kept for as long as the settings ask for the same end. A "latest" that the lane has reached is resolved anew,
  /// because an operator who asks for it again means the end that the partition has now.
  [[nodiscard]] Stop stop_of(const journal::StateRecord& record);

 private:
  [[nodiscard]] bool has_reached(const journal::StateRecord& record);
  [[nodiscard]] Position resolve(const config::Place& place, const kafka::Watermarks& log);
  void require_there(Position start);

  const config::Kafka& kafka_;
  std::uint64_t records_of_a_step_;
  const kafka::LanePlace& place_;
  kafka::LaneChecks& checks_;
};

}  // namespace nustream::attach
