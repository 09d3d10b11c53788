// Asks brokers questions, and waits for their answers until a deadline.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "kafka/client.h"
#include "kafka/partition.h"

namespace nustream::kafka {

/// Makes `call`, with the milliseconds that it may take, again and again until it gives no error. Throws
/// KafkaFailure("cannot ATTEMPT: …") for an error that no repetition mends, where the brokers do not let the client
/// in, and at the deadline. Throws Cancelled between two attempts.
void ask_until(const Client& client, const std::string& attempt, Deadline deadline,
               const std::function<std::optional<Error>(int milliseconds)>& call);

struct TopicShape {
  std::int32_t partitions;
  std::int32_t replication_factor;  ///< of the least replicated partition
};

/// How many partitions and replicas a topic has; nothing where it does not exist. Asking does not make the topic.
[[nodiscard]] std::optional<TopicShape> topic_shape(const Client& client, const std::string& topic,
                                                    Deadline deadline);

/// How many members the group has at present; 0 where the group does not exist. Needs the right to describe it.
[[nodiscard]] std::size_t group_members(const Client& client, const std::string& group, Deadline deadline);

}  // namespace nustream::kafka
