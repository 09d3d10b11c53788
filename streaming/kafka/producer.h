// Writes records in transactions. This is the one interface of the room for which tests have another implementation.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decode/message.h"
#include "kafka/client_error.h"
#include "kafka/client_settings.h"
#include "kafka/handles.h"
#include "kafka/partition.h"

namespace nustream::kafka {

/// A record to write. produce() copies it.
struct OutgoingRecord {
  std::string_view topic;
  PartitionIndex partition{0};
  std::optional<std::string_view> key{};    ///< nothing for a null key
  std::optional<std::string_view> value{};  ///< nothing for a null value, which is a tombstone
  std::span<const decode::MessageHeader> headers{};
};

/// A slice of a call lasts no longer than about this.
inline constexpr std::chrono::milliseconds slice_max{100};

/// One producer with one transactional id. To be used from one thread at a time, which need not always be the same
/// one.
///
/// After Progress::again() the caller has to make the same call again, and no other, until it is done or failed. A
/// call that is not over at the `deadline` of its first slice fails with Cause::timed_out and Remedy::new_client,
/// since nobody knows what a late answer would do to the next transaction (there is no KIP-890). The remedies of
/// every call:
///   call_again         the call had no effect: make it again, after a pause
///   abort_transaction  call abort(), then begin the next transaction
///   new_client         destroy the producer, make a new one, call its init(), and only then read the state: before
///                      init() nobody knows how the last transaction ended
///   none               as new_client, but another attempt would fail as well
class Producer {
 public:
  virtual ~Producer() = default;

  /// Fences older producers with the same id, and ends what they left: the brokers commit or abort it. To be called
  /// once, before anything else.
  [[nodiscard]] virtual Progress init(Deadline deadline) = 0;
  /// Begins a transaction. Does not wait.
  [[nodiscard]] virtual std::optional<Error> begin() = 0;
  /// Adds a record to the transaction. Does not wait. After Cause::queue_full the caller pauses, and calls again.
  [[nodiscard]] virtual std::optional<Error> produce(const OutgoingRecord& record) = 0;
  /// Adds offsets of `topic` for the group of `member`; each is the offset of the next record to read.
  [[nodiscard]] virtual Progress send_offsets(const std::string& topic, std::span<const PartitionOffset> offsets,
                                              const GroupMetadata& member, Deadline deadline) = 0;
  /// Waits until the brokers have taken every record so far. Fails with the cause and the topic of a record that they
  /// did not take, with what failed the transaction, or with Cause::timed_out at the deadline.
  [[nodiscard]] virtual Progress arrive(Deadline deadline) = 0;
  /// Commits: when it is done, every record and the offsets are committed. It fails where a broker refused a record
  /// (which was too large, or not written in time), with that cause, the record's topic and Remedy::new_client: the
  /// gap that the record leaves in the sequence numbers would fail the next transaction too. A topic that may not be
  /// written to fails it in the same way, but the error may not name the topic.
  [[nodiscard]] virtual Progress commit(Deadline deadline) = 0;
  /// Aborts: when it is done, nothing of the transaction will ever be visible to readers of committed records.
  [[nodiscard]] virtual Progress abort(Deadline deadline) = 0;

  /// The offset of the last record that a broker took for `topic`, with those of this transaction once it is
  /// committed; nothing before the first.
  [[nodiscard]] virtual std::optional<Offset> last_offset(const std::string& topic) const = 0;

  /// Says that nobody waits for the call under way any more. It is left to its thread, and the destructor does not
  /// wait for it. Nothing else may be called afterwards.
  virtual void abandon() noexcept = 0;

  /// What the connections have complained about last, since a call was done: the brokers do not let the client in, no
  /// broker is up, and the like. While init() goes on trying, this tells a wrong password from a broker that is down.
  [[nodiscard]] virtual std::optional<Error> complaint() = 0;
};

/// Makes a producer of librdkafka. It has one thread for each broker and two more, one of which makes the calls that
/// wait. `topics` are the topics that it will write to; init() looks up their leaders. send_offsets() may take 15 s
/// at most. The destructor waits for a call that is under way, at most until a second after its deadline, so that it
/// needs a thread that may wait.
[[nodiscard]] std::unique_ptr<Producer> transactional_producer(const ClientSettings& settings,
                                                               const std::string& transactional_id,
                                                               std::vector<std::string> topics);

}  // namespace nustream::kafka
