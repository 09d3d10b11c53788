// Divides the store of users into batches, segments and records, and keeps the mark that the state gets. The rule of
// segments bounds the store: three bytes of changes bring one byte of parts with them, until the whole table is in
// the segment and the segment before it can go.
#include "users/log_writer.h"

#include <algorithm>

#include "journal/failpoint.h"
#include "nustream/base/error.h"

namespace nustream::users {
namespace {

/// A segment's changes become this many times as long as its parts. More of them make batches shorter, and a store
/// and its rebuild longer: both segments together hold up to 2·(1 + 3) tables.
constexpr std::uint64_t changes_per_part = 3;

}  // namespace

// Parts come in their order, and a long one takes several records, so that the last part that was seen tells how many
// there are. Only headings are read, which stand in clear: a rebuild counts the records that it meets by the same
// rule as the writer that made them.
void Segment::count(std::string_view sealed) {
  count(part_of(sealed), sealed.size());
}

void Segment::count(std::optional<std::uint8_t> part, std::size_t bytes) {
  if (part) {
    parts = *part + 1U;
    part_bytes += bytes;
  } else {
    change_bytes += bytes;
  }
}

Sealed Appended::seal() {
  Sealed sealed{{}, mark_};
  sealed.records.reserve(records_.size());
  for (UnsealedRecord& record : records_) sealed.records.push_back(std::move(record).seal(key_, context_));
  if (changes_ != nullptr) sealed.mark.digest.change(key_, *changes_);
  return sealed;
}

void LogWriter::resume(const StoreMark& mark, const Segment& segment) {
  mark_ = mark;
  segment_ = segment;
  // The number of the batch stays open until committed(). A batch whose commit failed leaves records with this
  // number, which a rebuild takes for what they are: the remains of the one batch behind the mark.
  open_commit_ = mark.commit + 1;
}

/// Begins a batch, and a segment with it where the present one is full: all parts of the table are in it, and its
/// changes are three times as long as the parts.
Appended LogWriter::open_batch() {
  NUSTREAM_REQUIRE(open_commit_ != 0, "a store of users is loaded before it is appended to");
  const bool is_full =
      segment_.parts == Standings::parts &&
      segment_.change_bytes >= std::max(changes_per_part * segment_.part_bytes, sizes_.segment_bytes_min);
  Appended out(key_, context_, segment_.number == 0 || is_full);
  if (out.begins_segment_) segment_ = {segment_.number + 1};
  // append_epoch() and append() may both write into one batch. Then both get the same commit number.
  mark_.commit = open_commit_;
  return out;
}

/// The record behind all others. Numbers go on over segments and epochs without a gap, so that a record that is
/// missing is seen.
UnsealedRecord LogWriter::next_record(RecordKind kind, std::uint8_t part) {
  return {++mark_.number, open_commit_, kind, part};
}

void LogWriter::write(UnsealedRecord record, Appended& out) {
  segment_.count(record.part(), record.sealed_bytes());
  out.records_.push_back(std::move(record));
}

/// Writes the next parts of the table, until the segment holds a third as many bytes of parts as of changes. So the
/// whole table is in a segment by the time when its changes are three times as long as the table.
void LogWriter::write_parts(Appended& out) {
  while (segment_.parts < Standings::parts && changes_per_part * segment_.part_bytes <= segment_.change_bytes) {
    const auto part = static_cast<std::uint8_t>(segment_.parts);
    // Also an empty part is written: it says that nobody has such a hash, and the segment counts the part as done.
    UnsealedRecord record = next_record(RecordKind::part, part);
    // Hashes spread users evenly, so that a part hardly ever has more.
    record.reserve(std::min(sizes_.entries_max, table_.size() / Standings::parts * 5 / 4 + 64));
    std::size_t entries = 0;
    // The table still lacks the batch's changes. A part is therefore as of the record before it, and the changes of
    // the batch follow behind all of its parts.
    table_.visit_part(segment_.parts, [&](const Entry& entry) {
      if (entries++ == sizes_.entries_max) {
        write(std::exchange(record, next_record(RecordKind::part, part)), out);
        entries = 1;
      }
      record.add(entry);
    });
    write(std::move(record), out);
  }
}

/// Writes what the batch changed, as records that are not too long. A batch that changed nobody still leaves a
/// record, which may be empty. Without it, a state that was rolled back behind such batches could not be told from
/// the newest one by the store.
void LogWriter::write_changes(const Changes& changes, Appended& out) {
  std::span<const Change> left = changes.all();
  RecordKind kind = changes.emptied() ? RecordKind::emptied_changes : RecordKind::changes;
  if (left.empty() && !changes.emptied() && !out.records_.empty()) return;  // parts are records
  do {
    const std::span<const Change> taken = left.first(std::min(left.size(), sizes_.entries_max));
    UnsealedRecord record = next_record(kind, 0);
    record.reserve(taken.size());
    for (const Change& change : taken) record.add(change.entry);
    write(std::move(record), out);
    left = left.subspan(taken.size());
    kind = RecordKind::changes;  // only the first record empties the table
  } while (!left.empty());
}

Appended LogWriter::append_epoch(std::optional<std::pair<Mass, Mass>> mass) {
  Appended out = open_batch();
  UnsealedRecord record = next_record(RecordKind::epoch, 0);
  record.add_masses(mass ? std::optional(mass->first) : std::nullopt,
                    mass ? std::optional(mass->second) : std::nullopt);
  write(std::move(record), out);
  table_.change_all([&](const Standing& standing) {
    return mass ? carried_over(standing, mass->first, mass->second) : carried_over(standing);
  });
  // Every standing may have changed, so that the digest is computed anew. The number of users stays.
  mark_.digest = digest_of(key_, table_);
  out.mark_ = mark_;
  return out;
}

Appended LogWriter::append(const Changes& changes) {
  Appended out = open_batch();
  // Parts come before the changes, because they are as of the table before this batch.
  write_parts(out);
  write_changes(changes, out);
  // The table takes the changes only once they are committed, but the mark has to tell how many users it will hold
  // then.
  const auto is_new = [](const Change& change) { return change.before.count == 0; };
  const auto new_users = static_cast<std::uint64_t>(std::ranges::count_if(changes.all(), is_new));
  mark_.users = (changes.emptied() ? 0 : table_.size()) + new_users;
  out.mark_ = mark_;
  out.changes_ = &changes;
  return out;
}

void LogWriter::committed(Changes& changes, const StoreMark& mark) {
  NUSTREAM_REQUIRE(mark.number == mark_.number, "the batch that was appended is the one that is committed");
  mark_ = mark;
  std::string bytes;
  append_mark(mark_, bytes);
  // A crash here loses nothing: state and store are durable, and a table on disk is one batch behind its store.
  NUSTREAM_FAILPOINT("before-take-users");
  changes.apply(table_, bytes);
  NUSTREAM_FAILPOINT("after-take-users");
  open_commit_ = mark_.commit + 1;
}

}  // namespace nustream::users
