// Makes topics, for `nustream topics --create` and the demo. Nothing else ever makes a topic.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kafka/client_settings.h"
#include "kafka/partition.h"

namespace nustream::kafka {

struct NewTopic {
  std::string name;
  std::int32_t partitions;
  std::int32_t replication_factor;
  std::map<std::string, std::string> settings{};  ///< cleanup.policy, retention.ms, …
};

/// Makes a topic. Returns false where a topic of that name exists, which is left as it is. Throws KafkaFailure, and
/// Failure(configuration) for a name, a number of partitions or a replication that cannot be.
[[nodiscard]] bool make_topic(const ClientSettings& settings, const NewTopic& topic, Deadline deadline);

}  // namespace nustream::kafka
