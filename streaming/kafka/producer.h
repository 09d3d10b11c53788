// Writes in transactions. The one interface of this room that tests put something else behind.
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

/// A record to write. Copied by produce().
struct OutgoingRecord {
  std::string_view topic;
  PartitionIndex partition{0};
  std::optional<std::string_view> key{};    ///< empty: null
  std::optional<std::string_view> value{};  ///< empty: null, a tombstone
  std::span<const decode::MessageHeader> headers{};
};

/// No slice of a call lasts longer than about this.
inline constexpr std::chrono::milliseconds slice_max{100};

/// One producer with one transactional id. One thread at a time calls it, not always the same.
///
/// Progress::again() means: the same call again, and no other, until it is done or failed. A call that is not over at
/// its first slice's `deadline` fails with Cause::timed_out and Remedy::new_client: what a late answer would do to
/// the next transaction nobody knows (no KIP-890). The remedies of every call:
///   call_again         the call had no effect: again, after a pause
///   abort_transaction  abort(), then the next transaction
///   new_client         destroy it, make a new one, init() it, and only then read the state: the end of the last
///                      transaction is known after init() alone
///   none               as new_client, but another attempt would fail as well
class Producer {
 public:
  virtual ~Producer() = default;

  /// Fences older producers with the same id and ends what they left: commits or aborts. Once, first.
  [[nodiscard]] virtual Progress init(Deadline deadline) = 0;
  /// Begins a transaction. Does not wait.
  [[nodiscard]] virtual std::optional<Error> begin() = 0;
  /// Adds a record to the transaction. Does not wait; Cause::queue_full asks for a pause.
  [[nodiscard]] virtual std::optional<Error> produce(const OutgoingRecord& record) = 0;
  /// Adds the offsets of `topic` for the group of `member`: each the next record to read.
  [[nodiscard]] virtual Progress send_offsets(const std::string& topic, std::span<const PartitionOffset> offsets,
                                              const GroupMetadata& member, Deadline deadline) = 0;
  /// Done: the brokers have taken every record so far. Fails with the cause and the topic of the one that they did
  /// not take, or with what failed the transaction; Cause::timed_out at the deadline.
  [[nodiscard]] virtual Progress arrive(Deadline deadline) = 0;
  /// Done: every record, and the offsets, are committed. A record that a broker refused (too large, not written in
  /// time) fails it with that cause, the record's topic and Remedy::new_client: the gap that it leaves in the
  /// sequence numbers would fail the next transaction too. A topic that may not be written to fails it likewise, but
  /// may go without a name.
  [[nodiscard]] virtual Progress commit(Deadline deadline) = 0;
  /// Done: nothing of the transaction will ever be visible to read_committed.
  [[nodiscard]] virtual Progress abort(Deadline deadline) = 0;

  /// Offset of the last record that a broker took for `topic`, this transaction's included once it is committed;
  /// nothing before the first.
  [[nodiscard]] virtual std::optional<Offset> last_offset(const std::string& topic) const = 0;

  /// Nobody wants the end of a call under way any more: it is left to itself, and the destructor does not wait for
  /// it. Nothing else is called afterwards.
  virtual void abandon() noexcept = 0;

  /// What the connections last complained about (not let in, no broker, …) since the last call that was done: tells a
  /// wrong password from a broker that is down while init() goes on trying.
  [[nodiscard]] virtual std::optional<Error> complaint() = 0;
};

/// A producer of librdkafka: a client with 2 + brokers threads, one of them for the calls that wait. `topics` are
/// those it will write to: their leaders are looked up in init(). send_offsets() is given 15 s at most. The
/// destructor waits for a call that is under way, at most until a second after its deadline: destroy it on a thread
/// that may wait.
[[nodiscard]] std::unique_ptr<Producer> transactional_producer(const ClientSettings& settings,
                                                               const std::string& transactional_id,
                                                               std::vector<std::string> topics);

}  // namespace nustream::kafka
