// The store of a lane's users in a compacted topic, whose records travel in the lane's transactions
// (docs/formats/users.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "journal/journal.h"
#include "nustream/users/changes.h"
#include "users/log_writer.h"
#include "users/sealed_record.h"
#include "users/topic_mark.h"

namespace nustream::users {

class Rebuild;

/// Two segments in turn, as in files: the records of a new one have the keys of the one before the last, which
/// compaction then takes away, so that the topic's size is bounded by the number of users. Where the number of lanes
/// changes, the new store has keys of its own: the old one stays for all lanes that take users over from it.
///
///     append(changes)   sealed; the records go into the batch's transaction with the state that holds their mark
///     committed()       the transaction has committed: the table takes the changes
///
/// Knows no broker: records are read for it, and written for it. One thread at a time.
class TopicLog {
 public:
  /// Of a table that outlives it, and is not looked at before load() or begin().
  TopicLog(const UserKey& key, const StoreIdentity& identity, Standings& table, const Division& division,
           const LogSizes& sizes = {});

  /// Gives `take` the key and value of every committed record of the lane's partition from `offset` on, in order.
  using Take = std::function<void(std::string_view key, std::string_view value)>;
  using ReadFrom = std::function<void(std::uint64_t offset, const Take& take)>;
  /// Rebuilds the table as the mark says: nothing steps before that is done. Failure(data) where records of the store
  /// are missing, damaged, of another stream or lane, or where the topic holds batches that the state does not know.
  /// `end`: where the partition ends.
  void load(const TopicMark& mark, std::uint64_t end, const ReadFrom& read);
  /// The same for whoever only looks, perhaps while another process appends: what was appended since the mark is
  /// passed over, and nothing may be appended here.
  void look(const TopicMark& mark, const ReadFrom& read);
  /// Of a lane of whose users nothing is known: the store begins at `end`, whatever the partition holds before it.
  void begin(std::uint64_t end);

  /// What the batch adds to the topic, in its order; the mark of the store with it is mark().
  [[nodiscard]] std::vector<journal::KeyedRecord> append(const Changes& changes);
  /// The same for an epoch that begins, as LogWriter::append_epoch().
  [[nodiscard]] std::vector<journal::KeyedRecord> append_epoch(std::optional<std::pair<Mass, Mass>> mass);
  /// The transaction is committed. `end`: one past the offset of the last record of the store that was written.
  void committed(Changes& changes, std::optional<std::uint64_t> end);

  [[nodiscard]] const TopicMark& mark() const noexcept { return mark_; }

 private:
  [[nodiscard]] std::vector<journal::KeyedRecord> keyed(Appended batch);
  [[nodiscard]] std::string key_of(std::uint64_t number) const;
  [[nodiscard]] bool is_of_store(std::string_view key) const;
  [[nodiscard]] Segment rebuild(const TopicMark& mark, const ReadFrom& read, const std::function<void()>& beyond);

  UserKey key_;
  std::string context_;
  std::string prefix_;  // of the keys of the lane's records
  Standings& table_;
  LogWriter writer_;
  TopicMark mark_;
  std::uint64_t end_ = 0;  // offset behind the last record of the store that is known
};

}  // namespace nustream::users
