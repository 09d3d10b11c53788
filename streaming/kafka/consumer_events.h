// What a client that reads tells whoever polls it.
#pragma once

#include <variant>
#include <vector>

#include "kafka/client_error.h"
#include "kafka/message.h"
#include "kafka/partition.h"

namespace nustream::kafka {

/// Partitions that the group gives to this member, beside those it has (cooperative). Answered by assign().
struct Assigned {
  std::vector<PartitionIndex> partitions;
};
/// Partitions that the group takes from this member. Answered by unassign(), after what is in flight for them is
/// over. The group waits for the answer, up to max.poll.interval.ms.
struct Revoked {
  std::vector<PartitionIndex> partitions;
  bool lost;  ///< they belong to others already: nothing of theirs may be committed any more
};
/// No record is left below `offset`; control records and aborted ones are passed. Comes once at each end.
struct EndOfPartition {
  PartitionIndex partition;
  Offset offset;
};
/// What keeps a partition from being read: topic gone, ACL. After Cause::offset_out_of_range, the log does not hold
/// the offset, it cannot be started again until it was revoked and assigned anew.
struct PartitionError {
  PartitionIndex partition;
  Error error;
};
/// Of the client as a whole. Remedy::none or call_again: it goes on trying by itself; new_client: it is over (fenced
/// member).
struct ClientError {
  Error error;
};
/// The answer to ask_membership().
struct Membership {
  bool confirmed;  ///< the coordinator counts this member to the group, in its present, settled generation
};

/// Of any client that reads; std::monostate for what concerns nobody.
using ReaderEvent = std::variant<std::monostate, Message, EndOfPartition, PartitionError, ClientError>;
/// Of a member of a group.
using Event = std::variant<Message, EndOfPartition, Assigned, Revoked, PartitionError, ClientError, Membership>;

}  // namespace nustream::kafka
