// Changes the committed state of a lane that no instance runs.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/kafka.h"
#include "kafka/client_settings.h"
#include "kafka/partition.h"
#include "kafka/producer.h"

namespace nustream::kafka {

/// Throws Failure(locked) while the group has members, and KafkaFailure.
void require_no_members(const ClientSettings& client, const config::Kafka& kafka);
/// How many partitions the topic of states has. Throws Failure(configuration) where that topic does not exist.
[[nodiscard]] std::uint32_t lanes_with_states(const ClientSettings& client, const config::Kafka& kafka);

/// load() only looks. To change the state, call take_over() and then commit(). Calls wait, and throw KafkaFailure.
/// References outlive it.
class LaneEdit {
 public:
  /// `topics` are the topics that will be written to.
  LaneEdit(const ClientSettings& client, const config::Kafka& kafka, LanePlace place, std::vector<std::string> topics)
      : client_(client), place_(std::move(place)), time_(kafka.transaction), topics_(std::move(topics)) {}

  [[nodiscard]] const LanePlace& place() const noexcept { return place_; }
  /// The lane's last committed state; nothing where there is none.
  [[nodiscard]] std::optional<std::string> load() const;
  /// Fences older producers of the lane, and ends the transactions that they left: they commit nothing more.
  void fence();
  /// Calls fence(), and then load().
  [[nodiscard]] std::optional<std::string> take_over();
  /// Commits the lane's new state and other records in one transaction, without an offset. `attempt` says what is
  /// done, for messages: "cannot ATTEMPT: …".
  void commit(const std::string& attempt, const std::string& sealed, std::vector<OutgoingRecord> more);

 private:
  const ClientSettings& client_;
  LanePlace place_;
  std::chrono::milliseconds time_;
  std::vector<std::string> topics_;
  std::unique_ptr<Producer> producer_;
};

}  // namespace nustream::kafka
