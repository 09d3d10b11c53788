// The store of users in a compacted topic: names keys for records, so that compaction removes what a file would
// overwrite, and sorts out on reading which of the topic's records belong to the store that the mark is of
// (docs/formats/users.md, "In a topic").
#include "users/topic_log.h"

#include "error.h"
#include "nustream/base/error.h"
#include "users/rebuild.h"

namespace nustream::users {

TopicLog::TopicLog(const UserKey& key, const StoreIdentity& identity, Standings& table, const Division& division,
                   const LogSizes& sizes)
    : key_(key),
      context_(store_context(key, identity)),
      prefix_(identity.stream + "/" + std::to_string(identity.lane.value()) + "/users/"),
      table_(table),
      writer_(key, context_, table, sizes) {
  // The division decides which slots the keys have, before any mark is loaded.
  mark_.division = division;
}

/// The key of a record in the segment that is appended to: it names the slot of the segment, and the place within
/// that.
std::string TopicLog::key_of(std::uint64_t number) const {
  // Even changes use the slots 0 and 1, odd ones 2 and 3. For example lane 3 of stream s, before any change, writes
  // the first record of its second segment under s/3/users/0/0.
  const std::uint64_t slot = mark_.segment % 2 + 2 * (mark_.division.change % 2);
  return prefix_ + std::to_string(slot) + "/" + std::to_string(number - mark_.current.number);
}

/// Whether a record belongs to this division's store: its key names one of the division's two slots.
bool TopicLog::is_of_store(std::string_view key) const {
  if (!key.starts_with(prefix_)) return false;
  const std::string_view rest = key.substr(prefix_.size());
  const int first = mark_.division.change % 2 == 0 ? '0' : '2';
  // Closing marks have keys with the same prefix, but "closed/" in the place of the slot. They are
  // no records of the store.
  return rest.size() > 1 && rest[1] == '/' && (rest[0] == first || rest[0] == first + 1);
}

/// Rebuilds the table and returns the segment that is appended to. Calls `beyond` for each record of the store behind
/// the mark.
Segment TopicLog::rebuild(const TopicMark& mark, const ReadFrom& read, const std::function<void()>& beyond) {
  NUSTREAM_REQUIRE(mark.division == mark_.division, "users are divided among as many lanes as before");
  mark_ = mark;
  // The segment before the current one holds the rest of the table as long as the current one lacks parts.
  const SegmentStart& first = mark.before.number != 0 ? mark.before : mark.current;
  Segment segment;
  rebuild_table(key_, context_, mark.store, table_, [&](Rebuild& rebuild) {
    // A second attempt of rebuild_table() reads everything once more, so that the counts begin anew here.
    segment = {mark.segment};
    read(first.offset, [&](std::string_view key, std::string_view sealed) {
      if (!is_of_store(key)) return;
      const auto size = record_size(sealed);
      // Each value is one whole record. A value of another length was not written by this program.
      if (!size || *size != sealed.size()) return rebuild.torn();
      const std::uint64_t number = record_place(sealed).number;
      if (number < first.number) return;  // of a longer segment that had these keys before
      if (rebuild.reached()) return beyond();
      static_cast<void>(rebuild.take(sealed));
      // The writer goes on in the current segment alone, and needs its sizes to know where the next segment begins.
      if (number >= mark_.current.number) segment.count(sealed);
    });
  });
  return segment;
}

/// A record is written in one transaction with the state that knows it. So a record behind the mark shows a rollback.
void TopicLog::load(const TopicMark& mark, std::uint64_t end, const ReadFrom& read) {
  const Segment segment = rebuild(mark, read, [] {
    throw Failure(Exit::data,
                  "the store of users holds batches that the state does not know: the state was rolled back; "
                  "restore it as it was, or begin a new epoch (nustream attach --new-epoch), which is charged beside "
                  "what users have spent");
  });
  end_ = end;
  writer_.resume(mark.store, segment);
}

void TopicLog::look(const TopicMark& mark, const ReadFrom& read) {
  static_cast<void>(rebuild(mark, read, [] {}));
}

void TopicLog::begin(std::uint64_t end) {
  // Number 0 says that there is no segment yet, so that the first batch begins one at `end`. A reader then passes
  // over whatever the partition holds before that.
  mark_ = {{}, mark_.division, 0, {}, {}};
  table_.clear();
  end_ = end;
  writer_.resume({}, {});
}

TopicRecords TopicBatch::seal() {
  Sealed sealed = records_.seal();
  mark_.store = sealed.mark;
  TopicRecords out{{}, mark_};
  out.records.reserve(keys_.size());
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    out.records.push_back({std::move(keys_[i]), std::move(sealed.records[i])});
  }
  return out;
}

TopicBatch TopicLog::keyed(Appended records) {
  // The batch's records are the last ones that were numbered. Where they begin a segment, the present segment becomes
  // the one before it, and slot and places of their keys are counted from the first of them.
  std::uint64_t number = writer_.last_number() - records.records();
  if (records.begins_segment()) {
    mark_.before = mark_.current;
    mark_.current = {number + 1, end_};
    ++mark_.segment;
  }
  std::vector<std::string> keys;
  keys.reserve(records.records());
  for (std::size_t i = 0; i < records.records(); ++i) keys.push_back(key_of(++number));
  TopicBatch batch(std::move(records), mark_);
  batch.keys_ = std::move(keys);
  return batch;
}

TopicBatch TopicLog::append(const Changes& changes) {
  return keyed(writer_.append(changes));
}

TopicBatch TopicLog::append_epoch(std::optional<std::pair<Mass, Mass>> mass) {
  return keyed(writer_.append_epoch(mass));
}

void TopicLog::committed(Changes& changes, const TopicMark& mark, std::optional<std::uint64_t> end) {
  writer_.committed(changes, mark.store);
  mark_ = mark;
  // Where the batch wrote no record, the store ends where it ended before.
  if (end) end_ = *end;
}

}  // namespace nustream::users
