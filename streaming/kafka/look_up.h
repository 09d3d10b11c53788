// Questions to the brokers that are waited for, with a deadline.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "kafka/client.h"
#include "kafka/partition.h"

namespace nustream::kafka {

/// Calls `call` with milliseconds that it may take until it gives no error. KafkaFailure("cannot ATTEMPT: …") where
/// it gives one that no repetition mends, where the brokers do not let the client in, or at the deadline; Cancelled
/// between two attempts.
void ask_until(const Client& client, const std::string& attempt, Deadline deadline,
               const std::function<std::optional<Error>(int milliseconds)>& call);

struct TopicShape {
  std::int32_t partitions;
  std::int32_t replication_factor;  ///< of the least replicated partition
};

/// Nothing where the topic does not exist. Does not make it.
[[nodiscard]] std::optional<TopicShape> topic_shape(const Client& client, const std::string& topic,
                                                    Deadline deadline);

/// How many members the group has at present; 0 where there is none. Needs the right to describe it.
[[nodiscard]] std::size_t group_members(const Client& client, const std::string& group, Deadline deadline);

}  // namespace nustream::kafka
