// What a topic is like: looked at before anything is written to it, or relied on.
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

/// A topic's shape, and those of its settings that a promise rests on. Times in milliseconds; -1 for no limit.
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

/// Asks about topics. One thread at a time; calls wait, at most until their deadline, and throw KafkaFailure. Never
/// makes a topic. Whether one may write to a topic is found out by writing: a transaction that is aborted.
class TopicChecks {
 public:
  explicit TopicChecks(const ClientSettings& settings);
  ~TopicChecks();
  TopicChecks(const TopicChecks&) = delete;
  TopicChecks& operator=(const TopicChecks&) = delete;

  /// Nothing where the topic does not exist. Needs the right to describe the topic and its configuration.
  [[nodiscard]] std::optional<TopicDescription> describe(const std::string& topic, Deadline deadline);
  /// Number of partitions alone: needs the right to describe the topic. Nothing where the topic does not exist.
  [[nodiscard]] std::optional<std::int32_t> partitions(const std::string& topic, Deadline deadline);
  /// The cluster's own id; empty where its brokers do not tell.
  [[nodiscard]] std::string cluster(Deadline deadline);

 private:
  std::unique_ptr<Client> client_;
};

/// Names of all topics that the brokers let this client see. KafkaFailure.
[[nodiscard]] std::vector<std::string> topic_names(const ClientSettings& settings, Deadline deadline);

}  // namespace nustream::kafka
