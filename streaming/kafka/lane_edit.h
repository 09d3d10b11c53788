// A lane that nobody runs, taken over so that its committed state can be changed.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/kafka.h"
#include "kafka/client_settings.h"
#include "kafka/lane_place.h"
#include "kafka/producer.h"

namespace nustream::kafka {

/// Failure(locked) while the group has members.
void require_no_members(const ClientSettings& client, const config::Kafka& kafka);
/// Of the topic of states. Failure(configuration) where that does not exist.
[[nodiscard]] std::uint32_t lanes_with_states(const ClientSettings& client, const config::Kafka& kafka);

/// load() looks; take_over(), then commit(), change. Calls wait, and throw KafkaFailure. References outlive it.
class LaneEdit {
 public:
  /// `topics`: those that are written to.
  LaneEdit(const ClientSettings& client, const config::Kafka& kafka, LanePlace place, std::vector<std::string> topics)
      : client_(client), place_(std::move(place)), time_(kafka.transaction), topics_(std::move(topics)) {}

  [[nodiscard]] const LanePlace& place() const noexcept { return place_; }
  /// The lane's last committed state; nothing where there is none.
  [[nodiscard]] std::optional<std::string> load() const;
  /// The same, once older producers of the lane are fenced and what they left open is ended.
  [[nodiscard]] std::optional<std::string> take_over();
  /// The lane's new state and other records, in one transaction without an offset. `attempt`: "seal …", for failures.
  void commit(const std::string& attempt, const std::string& sealed, std::vector<OutgoingRecord> more);

 private:
  const ClientSettings& client_;
  LanePlace place_;
  std::chrono::milliseconds time_;
  std::vector<std::string> topics_;
  std::unique_ptr<Producer> producer_;
};

}  // namespace nustream::kafka
