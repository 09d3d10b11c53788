// Whether the topics of a stream are fit for what is promised, before anything is read or written.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "kafka/client_settings.h"
#include "kafka/partition.h"

namespace nustream::attach {

/// " (did you mean 'NAME'?)" of a topic that the brokers have and whose name is near to `topic`; "" where there is
/// none, or they do not say.
[[nodiscard]] std::string nearest_topic(const kafka::ClientSettings& client, const std::string& topic,
                                        kafka::Deadline deadline);

/// What was found out about the topics.
struct TopicFacts {
  std::uint32_t partitions;           ///< of the input
  std::uint32_t lanes_with_room;      ///< lanes below it have a partition in every topic
  std::size_t record_bytes_max;       ///< that every topic and the client take
  std::size_t letter_bytes_max;       ///< of a record that the client and the dead letters' topic take, if any
  std::size_t user_bytes_max;         ///< the same of the store of users, if any
  std::vector<std::string> warnings;  ///< one line each, for the operator
};

/// Asks the brokers, for at most `time`. Failure(configuration) where a topic is missing, the input is compacted, the
/// state topic or that of users is not (or deletes as well), the ledger is compacted or expires, or starts by time
/// need times that nobody declared public; Failure(permission) where we are not let in, or may not write to the dead
/// letters; Failure(unavailable) where nobody answers; Cancelled once `cancelled` is true.
[[nodiscard]] TopicFacts check_topics(const config::Config& config, std::chrono::milliseconds time,
                                      const std::atomic<bool>& cancelled);

}  // namespace nustream::attach
