// Applies the records of a store to a table and judges what it meets. The digest and the number of users at the end
// decide whether the table is right; the checks before them say what is wrong with the store where it is not.
#include "users/rebuild.h"

#include <utility>

#include "error.h"
#include "journal/failpoint.h"

namespace nustream::users {
namespace {

Failure contradiction(const std::string& what) {
  return {Exit::data, "the store of users " + what +
                          "; nothing was changed: restore it as it was, or begin a new epoch (nustream replay or "
                          "attach, with --new-epoch), which is charged beside what users have spent"};
}

/// How far a table says that it goes; nothing where it does not say so.
std::optional<StoreMark> kept_mark(const Standings& table) {
  const std::string bytes = table.mark();
  if (bytes.size() != mark_bytes) return std::nullopt;
  secrets::FieldReader fields(bytes, "the mark of a table of users is malformed");
  return take_mark(fields);
}

}  // namespace

// A table that is behind the mark can catch up. One that is ahead, or that has the mark's number with other contents,
// belongs to another history of the lane.
bool is_kept(const Standings& table, const StoreMark& mark) {
  const auto kept = kept_mark(table);
  if (!kept || kept->number > mark.number) return false;
  return kept->number < mark.number || *kept == mark;
}

Rebuild::Rebuild(const UserKey& key, std::string context, const StoreMark& mark, Standings& table, From from)
    : key_(key), context_(std::move(context)), mark_(mark), table_(table), from_(from) {
  if (from == From::kept) {
    // rebuild_table() asked is_kept() first, so that there is a mark.
    kept_ = kept_mark(table)->number;
    return;
  }
  table.clear();
  // Parts come in the order of their hashes, which would crowd together in a table that is still small.
  table.reserve(mark.users);
}

Taken Rebuild::take(std::string_view sealed) {
  const RecordPlace place = record_place(sealed);
  // Behind the mark nothing is applied. The caller learns where the committed records end.
  if (reached()) {
    require_known(place, sealed);
    return Taken::beyond;
  }
  // The first record may have any number, since older ones were removed; from there on there must be no gap.
  if (last_ && place.number != *last_ + 1) {
    throw contradiction("has record " + std::to_string(place.number) + " after " + std::to_string(*last_) +
                        ": records are missing or out of order");
  }
  // A record that the table holds already is opened all the same: a damaged store must be seen now, and not on the
  // day when the table is lost and the store is the only copy.
  const UserRecord record = open_record(key_, context_, sealed);
  if (place.number > kept_) apply(record);
  last_ = place.number;
  return Taken::applied;
}

/// Judges a record behind the mark. A record of the next batch is what a failed commit left. A record of a later
/// batch shows that the state is older than the store.
void Rebuild::require_known(const RecordPlace& place, std::string_view sealed) const {
  // One batch at a time is under way, so that at most the batch behind the mark can be there without its state.
  if (place.commit <= mark_.commit + 1) return;
  try {
    static_cast<void>(open_record(key_, context_, sealed));
  } catch (const Failure&) {
    return;  // it is torn, so that the number in its heading means nothing
  }
  throw contradiction("holds batches that the state does not know: the state was rolled back");
}

void Rebuild::torn() const {
  if (!reached()) throw contradiction("is damaged behind record " + std::to_string(last_.value_or(0)));
}

void Rebuild::apply(const UserRecord& record) {
  // The record's own entries are put in after this, as the batch did.
  if (record.kind == RecordKind::emptied_changes) table_.clear();
  if (record.kind == RecordKind::epoch) {
    table_.change_all([&](const Standing& standing) {
      return record.mass_before ? carried_over(standing, *record.mass_before, *record.mass_after)
                                : carried_over(standing);
    });
  }
  table_.put(record.entries);
}

bool Rebuild::finish() {
  if (last_.value_or(0) < mark_.number) {
    throw contradiction("ends at record " + std::to_string(last_.value_or(0)) + " and the state knows " +
                        std::to_string(mark_.number) + ": it was cut, or is an older copy");
  }
  // The digest is computed over the table itself, not over the records, so that a table on disk that lost or kept
  // entries is found out too.
  SetDigest digest;
  std::uint64_t users = 0;
  visit_all(table_, [&](const Entry& entry) {
    digest.add(key_, entry);
    ++users;
  });
  if (users != mark_.users || digest != mark_.digest) {
    if (from_ == From::kept) return false;
    throw contradiction("does not give the table that the state knows: it is thinned out, or another copy's");
  }
  NUSTREAM_FAILPOINT("during-rebuild-users");
  std::string mark;
  append_mark(mark_, mark);
  table_.settle(users, mark);
  return true;
}

}  // namespace nustream::users
