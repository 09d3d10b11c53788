// Makes topics: for `nustream topics --create` and the demo, never on the way of anything else.
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

/// True where it was made, false where a topic of that name exists, which is left as it is. KafkaFailure otherwise.
[[nodiscard]] bool make_topic(const ClientSettings& settings, const NewTopic& topic, Deadline deadline);

}  // namespace nustream::kafka
