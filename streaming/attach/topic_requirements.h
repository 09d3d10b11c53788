// Checks, before anything is read or written, that the topics of a stream can keep what is promised.
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

/// Returns " (did you mean 'NAME'?)" with the brokers' topic whose name is nearest to `topic`; "" where no name is
/// near, or where the brokers do not list their topics.
[[nodiscard]] std::string nearest_topic(const kafka::ClientSettings& client, const std::string& topic,
                                        kafka::Deadline deadline);

/// What was found out about the topics.
struct TopicFacts {
  std::uint32_t partitions;           ///< how many the input has
  std::uint32_t lanes_with_room;      ///< lanes with smaller numbers have a partition in every topic
  std::size_t record_bytes_max;       ///< the longest record that the client and all other topics take
  std::size_t letter_bytes_max;       ///< the longest record that the client and the dead letters' topic take
  std::size_t user_bytes_max;         ///< the longest record that the client and the topic of users take
  std::vector<std::string> warnings;  ///< one line each, for the operator
};

/// Asks the brokers about every topic of the stream, for at most `time`.
///
/// Throws Failure(configuration) where a topic is missing; where the input is compacted; where the topic of states or
/// of users is not compacted, or deletes as well; where the ledger's is compacted or expires; and where a start or
/// stop by time needs times that nobody declared public. Throws Failure(permission) where the brokers do not let this
/// process in, or not write dead letters; Failure(unavailable) where no broker answers; and Cancelled once
/// `cancelled` is true.
[[nodiscard]] TopicFacts check_topics(const config::Config& config, std::chrono::milliseconds time,
                                      const std::atomic<bool>& cancelled);

/// Asks the brokers about the input alone, for at most `time`, and throws as check_topics() does where it is not as a
/// lane needs it. Does nothing where there is no such topic.
void require_input(const config::Config& config, std::chrono::milliseconds time);

}  // namespace nustream::attach
