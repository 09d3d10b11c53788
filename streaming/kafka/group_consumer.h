// A member of a consumer group that reads the input topic, for an event loop: it wakes a descriptor and never waits.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kafka/client_error.h"
#include "kafka/client_settings.h"
#include "kafka/handles.h"
#include "kafka/message.h"
#include "kafka/partition.h"

namespace nustream::kafka {

struct GroupMember {
  std::string topic;
  std::string group;
  std::string instance;  ///< group.instance.id; empty: a member that leaves at once when it ends
};

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

using Event = std::variant<Message, EndOfPartition, Assigned, Revoked, PartitionError, ClientError, Membership>;

/// One member of a group. One thread only calls it, the event loop's; nothing is ever called back. No call waits for
/// a broker: some wait for the client library's own thread, microseconds.
///
/// Use: wait until descriptor() is readable; acknowledge(); next() until it gives nothing, but at most some hundreds
/// of times before others get their turn, then post yourself again without waiting. Once after construction, and from
/// a timer well within max.poll.interval.ms, call next() without a wake-up: it says that this member is alive.
///
/// Input is read_committed; nothing is committed here, nor reset: an offset that the log does not hold is a
/// PartitionError. A record may be given twice after pause(), seek() or a rebalance: drop what is below the lane's
/// position.
class GroupConsumer {
 public:
  /// Joins the group and subscribes to the topic; the first Assigned comes as an event.
  GroupConsumer(const ClientSettings& settings, const GroupMember& member);
  /// Where it is not closed yet, leaves the group, and may wait for up to 5 s for brokers that do not answer.
  ~GroupConsumer();
  GroupConsumer(const GroupConsumer&) = delete;
  GroupConsumer& operator=(const GroupConsumer&) = delete;

  /// An eventfd, non-blocking: readable when there may be an event.
  [[nodiscard]] int descriptor() const noexcept;
  /// Reads the descriptor: before the events, or a wake-up could be lost between the two.
  void acknowledge() noexcept;
  /// The next event, or nothing for now. A Message holds its memory until it is destroyed; all of them have to be
  /// before this object is.
  [[nodiscard]] std::optional<Event> next();

  /// Answers Assigned with the very partitions that it named. Nothing is read of them until start().
  [[nodiscard]] std::optional<Error> assign(std::span<const PartitionIndex> partitions);
  /// Answers Revoked with the very partitions that it named. No record of them comes after it.
  [[nodiscard]] std::optional<Error> unassign(std::span<const PartitionIndex> partitions);

  /// Reads an assigned partition from `offset` on: at first, and after an aborted batch (seek and resume in one). No
  /// record from before the call comes after it. Remedy::call_again: the library is busy with the partition.
  [[nodiscard]] std::optional<Error> start(PartitionIndex partition, Offset offset);
  /// Stops reading; what was read ahead is dropped, and read again after resume().
  [[nodiscard]] std::optional<Error> pause(PartitionIndex partition);
  /// Goes on behind the last record that next() gave, or at start()'s offset.
  [[nodiscard]] std::optional<Error> resume(PartitionIndex partition);

  /// The end of a partition as the last answer of its broker told it; nothing before the first. Does not ask.
  [[nodiscard]] std::optional<Offset> known_end(PartitionIndex partition) const;

  /// For transactions that commit this member's offsets; null before it has joined.
  [[nodiscard]] GroupMetadata group_metadata() const;
  /// True from the moment that the assignment was lost (session over) until Revoked{lost} is answered.
  [[nodiscard]] bool assignment_lost() const noexcept;
  /// Asks the coordinator whether it still counts this member; the answer is a Membership event. A question that
  /// finds no answer until `deadline` is a ClientError.
  void ask_membership(Deadline deadline);

  /// Begins to leave: the partitions come as Revoked and are answered as ever; go on with next() until is_closed().
  /// A member with an instance stays in the group until its session ends.
  void begin_close();
  [[nodiscard]] bool is_closed() const noexcept;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace nustream::kafka
