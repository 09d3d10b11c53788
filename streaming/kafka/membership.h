// Asks the coordinator of a group whether it still counts a member.
#pragma once

#include <string>
#include <variant>

#include "kafka/client.h"
#include "kafka/consumer_events.h"
#include "kafka/partition.h"

namespace nustream::kafka {

/// Asks the question. The answer, or an error at the deadline, comes as an event of the client's queue.
void ask_for_group(const Client& client, const std::string& group, Deadline deadline);

/// What the answer means for the client itself. It is confirmed where the group is stable, and the client one of its
/// members.
[[nodiscard]] std::variant<Membership, ClientError> read_group(const Client& client, rd_kafka_op_s& answer);

}  // namespace nustream::kafka
