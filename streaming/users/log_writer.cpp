// Divides the store of users into batches, segments and records, and keeps the mark that the state gets. The rule of
// segments bounds the store: each byte of changes brings one byte of parts with it, until the whole table is in the
// segment and the segment before it can go.
#include "users/log_writer.h"

#include <algorithm>

#include "journal/failpoint.h"
#include "nustream/base/error.h"

namespace nustream::users {

// Parts come in their order, and a long one takes several records, so that the last part that was seen tells how many
// there are. Only headings are read, which stand in clear: a rebuild counts the records that it meets by the same
// rule as the writer that made them.
void Segment::count(std::string_view sealed) {
  if (const auto part = part_of(sealed)) {
    parts = *part + 1U;
    part_bytes += sealed.size();
  } else {
    change_bytes += sealed.size();
  }
}

void LogWriter::resume(const StoreMark& mark, const Segment& segment) {
  mark_ = mark;
  segment_ = segment;
  // The number of the batch stays open until committed(). A batch whose commit failed leaves records with this
  // number, which a rebuild takes for what they are: the remains of the one batch behind the mark.
  open_commit_ = mark.commit + 1;
}

/// Begins a batch, and a segment with it where the present one is full: all parts of the table are in it, and its
/// changes are as long as the parts.
Appended LogWriter::open_batch() {
  NUSTREAM_REQUIRE(open_commit_ != 0, "a store of users is loaded before it is appended to");
  const bool is_full = segment_.parts == Standings::parts &&
                       segment_.change_bytes >= std::max(segment_.part_bytes, sizes_.segment_bytes_min);
  Appended out{segment_.number == 0 || is_full, {}};
  if (out.begins_segment) segment_ = {segment_.number + 1};
  // append_epoch() and append() may both write into one batch. Then both get the same commit number.
  mark_.commit = open_commit_;
  return out;
}

void LogWriter::write(UserRecord record, Appended& out) {
  // Numbers go on over segments and epochs without a gap, so that a record that is missing is seen.
  record.number = ++mark_.number;
  record.commit = open_commit_;
  out.records.push_back(seal_record(key_, context_, record));
  segment_.count(out.records.back());
}

/// Writes all `entries`, as records that are not too long; one record at least, which may be empty.
void LogWriter::write(RecordKind kind, std::uint8_t part, std::span<const Entry> entries, Appended& out) {
  // Also an empty part is written: it says that nobody has such a hash, and the segment counts the part as done.
  do {
    const auto taken = entries.first(std::min(entries.size(), sizes_.entries_max));
    write({0, 0, kind, part, {taken.begin(), taken.end()}, {}, {}}, out);
    entries = entries.subspan(taken.size());
    if (kind == RecordKind::emptied_changes) kind = RecordKind::changes;  // only the first record empties the table
  } while (!entries.empty());
}

/// Writes the next parts of the table, until the segment holds as many bytes of parts as of changes. So the whole
/// table is in a segment by the time when its changes are as long as the table.
void LogWriter::write_parts(Appended& out) {
  while (segment_.parts < Standings::parts && segment_.part_bytes <= segment_.change_bytes) {
    std::vector<Entry> entries;
    // The table still lacks the batch's changes. A part is therefore as of the record before it, and the changes of
    // the batch follow behind all of its parts.
    table_.visit_part(segment_.parts, [&](const Entry& entry) { entries.push_back(entry); });
    write(RecordKind::part, static_cast<std::uint8_t>(segment_.parts), entries, out);
  }
}

Appended LogWriter::append_epoch(std::optional<std::pair<Mass, Mass>> mass) {
  Appended out = open_batch();
  UserRecord record{0, 0, RecordKind::epoch};
  if (mass) {
    record.mass_before = mass->first;
    record.mass_after = mass->second;
  }
  write(std::move(record), out);
  table_.change_all([&](const Standing& standing) {
    return mass ? carried_over(standing, mass->first, mass->second) : carried_over(standing);
  });
  // Every standing may have changed, so that the digest is computed anew. The number of users stays.
  mark_.digest = digest_of(key_, table_);
  return out;
}

Appended LogWriter::append(const Changes& changes) {
  Appended out = open_batch();
  // Parts come before the changes, because they are as of the table before this batch.
  write_parts(out);
  std::vector<Entry> entries;
  entries.reserve(changes.all().size());
  for (const Change& change : changes.all()) entries.push_back(change.entry);
  if (changes.emptied() || !entries.empty()) {
    write(changes.emptied() ? RecordKind::emptied_changes : RecordKind::changes, 0, entries, out);
  }
  mark_.digest.change(key_, changes);
  // The table takes the changes only once they are committed, but the mark has to tell how many users it will hold
  // then.
  const auto is_new = [](const Change& change) { return change.before.count == 0; };
  const auto new_users = static_cast<std::uint64_t>(std::ranges::count_if(changes.all(), is_new));
  mark_.users = (changes.emptied() ? 0 : table_.size()) + new_users;
  return out;
}

void LogWriter::committed(Changes& changes) {
  std::string mark;
  append_mark(mark_, mark);
  // A crash here loses nothing: state and store are durable, and a table on disk is one batch behind its store.
  NUSTREAM_FAILPOINT("before-take-users");
  changes.apply(table_, mark);
  NUSTREAM_FAILPOINT("after-take-users");
  open_commit_ = mark_.commit + 1;
}

}  // namespace nustream::users
