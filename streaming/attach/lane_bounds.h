// Where a lane begins and ends: the places of the settings as offsets of its partition.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/config.h"
#include "journal/state_record.h"
#include "kafka/lane_checks.h"
#include "kafka/lane_place.h"

namespace nustream::attach {

/// Where a lane ends, and what was asked for when that was resolved; nowhere, and nothing, where nothing was.
struct Stop {
  std::optional<Position> position;
  std::string asked;  ///< as a state keeps it (docs/formats/kafka.md)
};

[[nodiscard]] Position position_of(kafka::Offset offset);

/// Asks the brokers through `checks`, which waits and throws as it says. All references outlive it.
class LaneBounds {
 public:
  LaneBounds(const config::Config& config, const kafka::LanePlace& place, kafka::LaneChecks& checks)
      : kafka_(config.kafka), records_of_a_step_(config.descent.minibatch), place_(place), checks_(checks) {}

  /// Of a lane without a past: kafka.start, or the first record where that is later. Failure(configuration) where it
  /// is an offset beyond the partition's end.
  [[nodiscard]] Position start();
  /// kafka.stop as it is now.
  [[nodiscard]] Stop stop();
  /// An end or a time is resolved once, and kept for as long as the settings ask for the same: says so in the log. An
  /// end that the lane has reached is resolved anew: whoever asks for the end again means the one that there is now.
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
