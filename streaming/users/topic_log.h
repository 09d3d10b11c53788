// The store of a lane's users in a compacted topic. Its records are written in the lane's transactions
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

/// The sealed records of one batch, in their order, and the mark of the store with them.
struct TopicRecords {
  std::vector<journal::KeyedRecord> records;
  TopicMark mark;
};

/// The records of one batch before they are sealed, as Appended is. seal() may be called on another thread.
class TopicBatch {
 public:
  /// To be called once, before the changes that append() was given change.
  [[nodiscard]] TopicRecords seal();

 private:
  friend class TopicLog;
  TopicBatch(Appended records, TopicMark mark) : records_(std::move(records)), mark_(mark) {}

  Appended records_;
  std::vector<std::string> keys_;
  TopicMark mark_;
};

/// Segments take two slots in turn, as they take two files in a folder. The records of a new segment have the keys of
/// the segment two before it, which compaction then removes, so that the topic's size is bounded by the number of
/// users. Where the number of lanes changes, the new store has keys of its own: the old one has to stay until all
/// lanes have taken their users over from it.
///
///     append(changes)      the batch's records, numbered
///     TopicBatch::seal()   sealed; they go into the batch's transaction with the state that holds their mark
///     committed()          the transaction has committed: the table takes the changes
///
/// It knows no broker: the caller reads and writes the records. To be used from one thread at a time.
class TopicLog {
 public:
  /// `table` outlives this, and is not looked at before load() or begin().
  TopicLog(const UserKey& key, const StoreIdentity& identity, Standings& table, const Division& division,
           const LogSizes& sizes = {});

  /// Gives `take` the key and value of every committed record of the lane's partition from `offset` on, in order.
  using Take = std::function<void(std::string_view key, std::string_view value)>;
  using ReadFrom = std::function<void(std::uint64_t offset, const Take& take)>;
  /// Rebuilds the table up to `mark`. No step may be taken before that is done. `end` is the end of the partition.
  /// Throws Failure(data) where records of the store are missing, damaged, or of another stream or lane, and where
  /// the topic holds batches that the state does not know.
  void load(const TopicMark& mark, std::uint64_t end, const ReadFrom& read);
  /// As load(), for a caller that only looks, perhaps while another process appends. Records behind the mark are
  /// passed over, and nothing may be appended by this object.
  void look(const TopicMark& mark, const ReadFrom& read);
  /// Begins an empty store at `end`, whatever the partition holds before that. This is for a lane about whose users
  /// nothing is known.
  void begin(std::uint64_t end);

  /// The records that the batch adds to the topic.
  [[nodiscard]] TopicBatch append(const Changes& changes);
  /// The records that an epoch adds when it begins, as LogWriter::append_epoch() gives them.
  [[nodiscard]] TopicBatch append_epoch(std::optional<std::pair<Mass, Mass>> mass);
  /// The transaction is committed. `mark` is what TopicBatch::seal() gave. `end` is one past the offset of the last
  /// record of the store that was written; nothing where none was.
  void committed(Changes& changes, const TopicMark& mark, std::optional<std::uint64_t> end);

 private:
  [[nodiscard]] TopicBatch keyed(Appended records);
  [[nodiscard]] std::string key_of(std::uint64_t number) const;
  [[nodiscard]] bool is_of_store(std::string_view key) const;
  [[nodiscard]] Segment rebuild(const TopicMark& mark, const ReadFrom& read, const std::function<void()>& beyond);

  UserKey key_;
  std::string context_;
  std::string prefix_;  // with which the keys of the lane's records begin
  Standings& table_;
  LogWriter writer_;
  TopicMark mark_;         // of what was appended, but for the store's own mark, which is of what was committed
  std::uint64_t end_ = 0;  // offset behind the last record of the store that is known
};

}  // namespace nustream::users
