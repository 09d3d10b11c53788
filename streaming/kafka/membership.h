// Whether the coordinator of a group still counts a member.
#pragma once

#include <string>
#include <variant>

#include "kafka/client.h"
#include "kafka/consumer_events.h"
#include "kafka/partition.h"

namespace nustream::kafka {

/// Asks; the answer comes as an event of the client's queue, at the latest at the deadline.
void ask_for_group(const Client& client, const std::string& group, Deadline deadline);

/// What the answer means for the client itself: a member of the group as it stands, settled, or not.
[[nodiscard]] std::variant<Membership, ClientError> read_group(const Client& client, rd_kafka_op_s& answer);

}  // namespace nustream::kafka
