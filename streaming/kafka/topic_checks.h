// Finds out what a topic is like, before anything is written to it or relied on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kafka/client_settings.h"
#include "kafka/partition.h"

namespace nustream::kafka {

struct Client;

/// A topic's shape, and those of its settings on which a promise rests. Times are in milliseconds; -1 stands for no
/// limit.
struct TopicDescription {
  std::int32_t partitions;
  std::int32_t replication_factor;  ///< of its least replicated partition
  std::string cleanup_policy;       ///< "compact", "delete", "compact,delete"
  std::int32_t min_insync_replicas;
  std::int64_t max_message_bytes;
  std::string message_timestamp_type;  ///< "CreateTime" or "LogAppendTime"
  std::int64_t retention_ms;
  std::int64_t retention_bytes;
  std::int64_t max_compaction_lag_ms;
  std::int64_t segment_ms;
};

/// Asks about topics. To be used from one thread at a time. Calls wait, at most until their deadline, and throw
/// KafkaFailure. They never make a topic. Whether a client may write to a topic can only be found out by writing
/// (require_right_to_write()).
class TopicChecks {
 public:
  explicit TopicChecks(const ClientSettings& settings);
  ~TopicChecks();
  TopicChecks(const TopicChecks&) = delete;
  TopicChecks& operator=(const TopicChecks&) = delete;

  /// Describes a topic; nothing where it does not exist. Needs the right to describe the topic and its configuration.
  [[nodiscard]] std::optional<TopicDescription> describe(const std::string& topic, Deadline deadline);
  /// The number of partitions alone, for which the right to describe the topic is enough. Nothing where the topic
  /// does not exist.
  [[nodiscard]] std::optional<std::int32_t> partitions(const std::string& topic, Deadline deadline);
  /// The cluster's own id; empty where its brokers do not tell it.
  [[nodiscard]] std::string cluster(Deadline deadline);

 private:
  std::unique_ptr<Client> client_;
};

/// The names of all topics that the brokers let this client see. Throws KafkaFailure.
[[nodiscard]] std::vector<std::string> topic_names(const ClientSettings& settings, Deadline deadline);

/// Writes one record to partition 0 of `topic` in a transaction that is aborted, so that readers of committed records
/// never see it. `transactional_id` must not be used for anything but this question. Waits, at most until about
/// `deadline`.
///
/// Throws KafkaFailure where the brokers refuse the topic or the transactional id, or do not let the client in. Any
/// other reason why the record is not written says nothing about rights, and is no failure here. Throws Cancelled.
void require_right_to_write(const ClientSettings& settings, const std::string& transactional_id,
                            const std::string& topic, Deadline deadline);

}  // namespace nustream::kafka
