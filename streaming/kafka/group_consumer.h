// A member of a consumer group that reads the input topic, for an event loop: it wakes a descriptor and never waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kafka/client_error.h"
#include "kafka/client_settings.h"
#include "kafka/consumer_events.h"
#include "kafka/handles.h"
#include "kafka/partition.h"

namespace nustream::kafka {

struct GroupMember {
  std::string topic;
  std::string group;
  std::string instance;  ///< group.instance.id; empty: a member that leaves at once when it ends
};

struct Client;

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
  /// Where it is not closed yet, closes: answers what it owes, leaves the group, and waits for brokers that do not
  /// answer until begin_close()'s patience is over.
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

  /// A member that leaves waits for the coordinator's word on it, 5 s.
  static constexpr std::chrono::milliseconds closing_patience{10'000};
  /// Begins to leave: the partitions come as Revoked and are answered as ever; go on with next() until is_closed(),
  /// or give it up after `patience`: then the group finds out by the end of the session. A member with an instance
  /// stays in the group until then anyway.
  void begin_close(std::chrono::milliseconds patience = closing_patience);
  [[nodiscard]] bool is_closed() const noexcept;

 private:
  struct Descriptor {
    Descriptor();
    ~Descriptor();
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int value;
  };
  struct PartitionState {
    bool assigned = false;
    bool reading = false;
    bool paused = false;
    bool given_up = false;
  };
  enum class Answer { none, assign, unassign };

  void subscribe();
  void close_now();
  [[nodiscard]] std::optional<Event> translate(EventHandle event);
  [[nodiscard]] std::optional<Event> pass(ReaderEvent read);
  [[nodiscard]] Event rebalance(rd_kafka_op_s& event);
  [[nodiscard]] std::optional<Error> seek(PartitionIndex partition, Offset offset);
  [[nodiscard]] std::optional<Error> unless_closing(rd_kafka_error_s* result) const;
  [[nodiscard]] PartitionListHandle list_of(PartitionIndex partition, std::int64_t offset) const;
  [[nodiscard]] PartitionState& state_of(PartitionIndex partition);

  std::string topic_;
  std::string group_;
  Descriptor descriptor_;  // before the client, which writes to it until it is gone
  std::unique_ptr<Client> client_;
  std::vector<PartitionState> states_;  // by partition
  Answer answer_owed_ = Answer::none;
  std::optional<Deadline> closing_until_;  // while it closes
};

}  // namespace nustream::kafka
