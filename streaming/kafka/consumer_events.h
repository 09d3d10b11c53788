// The events of a client that reads, as polling it gives them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "kafka/client_error.h"
#include "kafka/message.h"
#include "kafka/partition.h"

struct rd_kafka_op_s;

namespace nustream::kafka {

/// The group gives partitions to this member, beside those that it has (cooperatively). The event has to be answered
/// by assign().
struct Assigned {
  std::vector<PartitionIndex> partitions;
};
/// The group takes partitions from this member. The event has to be answered by unassign(), once what is in flight
/// for them is over. The group waits for the answer, up to max.poll.interval.ms.
struct Revoked {
  std::vector<PartitionIndex> partitions;
  bool lost;  ///< true where they belong to others already, so that nothing may be committed for them any more
};
/// The partition has no further record below `offset`; control records and aborted ones have been passed. The event
/// comes once each time the end is reached.
struct EndOfPartition {
  PartitionIndex partition;
  Offset offset;
};
/// A partition cannot be read: its topic is gone, or an access control list forbids it. After
/// Cause::offset_out_of_range (the log does not hold the offset) it cannot be started again until it was revoked and
/// assigned anew.
struct PartitionError {
  PartitionIndex partition;
  Error error;
};
/// An error of the client as a whole. With Remedy::none or call_again the client goes on trying by itself; with
/// new_client it is of no use any more (a fenced member).
struct ClientError {
  Error error;
};
/// The answer to ask_membership().
struct Membership {
  bool confirmed;  ///< true where the coordinator counts this member, and the group is not rebalancing
};

struct Client;

/// An event of any client that reads; std::monostate where nothing has to be done about it.
using ReaderEvent = std::variant<std::monostate, Message, EndOfPartition, PartitionError, ClientError>;
/// An event of a member of a group.
using Event = std::variant<Message, EndOfPartition, Assigned, Revoked, PartitionError, ClientError, Membership>;

/// Asks the coordinator of a group whether it still counts this member. The answer, or an error at the deadline,
/// comes as an event of the client's queue.
void ask_for_group(const Client& client, const std::string& group, Deadline deadline);

/// What the answer means for the client itself. It is confirmed where the group is stable, and the client one of its
/// members.
[[nodiscard]] std::variant<Membership, ClientError> read_group(const Client& client, rd_kafka_op_s& answer);

}  // namespace nustream::kafka
