// A member of a consumer group that reads the input topic. It is made for an event loop: a descriptor tells when
// there is something to do, and no call waits for a broker.
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
  std::string instance;  ///< group.instance.id; empty for a member that leaves the group at once when it ends
};

struct Client;

/// One member of a group. It is used by one thread, the event loop's, and calls nothing back. No call waits for a
/// broker; some wait for the client library's own thread, which takes microseconds.
///
/// How to use it: wait until descriptor() is readable, call acknowledge(), and then next() until it gives nothing.
/// After some hundreds of events let other work have its turn, and go on without waiting for the descriptor. Also
/// call next() once after construction, and from a timer well within max.poll.interval.ms, without waiting for the
/// descriptor: the call tells the group that this member is alive.
///
/// The input is read_committed. Nothing is committed here. No offset is reset either: where the log does not hold an
/// offset, that is a PartitionError. A record may be given twice after pause(), a second start() or a rebalance, so
/// that the caller has to drop records below the lane's position.
class GroupConsumer {
 public:
  /// Joins the group and subscribes to the topic. The first Assigned comes as an event. Throws KafkaFailure, and
  /// Failure(configuration) for the settings.
  GroupConsumer(const ClientSettings& settings, const GroupMember& member);
  /// Closes, where it is not closed yet: answers what the group still asks, leaves the group, and waits for that
  /// until the patience of begin_close() is over.
  ~GroupConsumer();
  GroupConsumer(const GroupConsumer&) = delete;
  GroupConsumer& operator=(const GroupConsumer&) = delete;

  /// A non-blocking eventfd, which is readable when there may be an event.
  [[nodiscard]] int descriptor() const noexcept;
  /// Reads the descriptor. To be called before the events are read, since a wake-up in between would otherwise be
  /// lost.
  void acknowledge() noexcept;
  /// The next event, or nothing for now. A Message holds its memory until it is destroyed, and has to be destroyed
  /// before this object is.
  [[nodiscard]] std::optional<Event> next();

  /// Answers Assigned, with exactly the partitions that it named. Nothing is read of them until start().
  [[nodiscard]] std::optional<Error> assign(std::span<const PartitionIndex> partitions);
  /// Answers Revoked, with exactly the partitions that it named. No record of them comes after this call.
  [[nodiscard]] std::optional<Error> unassign(std::span<const PartitionIndex> partitions);

  /// Reads an assigned partition from `offset` on. It may be called again to go back (it then seeks, and resumes a
  /// paused partition). No record that was fetched before the call is given after it. An error with
  /// Remedy::call_again says that the library is busy with the partition.
  [[nodiscard]] std::optional<Error> start(PartitionIndex partition, Offset offset);
  /// Stops reading a partition. Records that the library has fetched ahead are dropped, and fetched again after
  /// resume().
  [[nodiscard]] std::optional<Error> pause(PartitionIndex partition);
  /// Goes on reading behind the last record that next() gave, or at the offset of start() where it gave none.
  [[nodiscard]] std::optional<Error> resume(PartitionIndex partition);

  /// The end of a partition, as its broker's last answer told it; nothing before the first answer. It asks nobody.
  [[nodiscard]] std::optional<Offset> known_end(PartitionIndex partition) const;

  /// What transactions need to commit this member's offsets; null before it has joined.
  [[nodiscard]] GroupMetadata group_metadata() const;
  /// True from the moment when the assignment was lost (the session is over) until Revoked{lost} is answered.
  [[nodiscard]] bool assignment_lost() const noexcept;
  /// Asks the coordinator whether it still counts this member. The answer comes as a Membership event. Where no
  /// answer comes until `deadline`, a ClientError does.
  void ask_membership(Deadline deadline);

  /// How long leaving the group may take. The client library itself waits 5 s for the coordinator's answer.
  static constexpr std::chrono::milliseconds closing_patience{10'000};
  /// Begins to leave the group. Its partitions come as Revoked, and are answered as always. The caller goes on with
  /// next() until is_closed(), or gives up after `patience`; the group then finds out when the session ends. A member
  /// with an instance stays in the group until then in any case.
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
  Descriptor descriptor_;  // declared before the client, which writes to it until it is destroyed
  std::unique_ptr<Client> client_;
  std::vector<PartitionState> states_;  // by partition
  Answer answer_owed_ = Answer::none;
  std::optional<Deadline> closing_until_;  // set once it closes
};

}  // namespace nustream::kafka
