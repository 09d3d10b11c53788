#include "users/rebuild.h"

#include <utility>

#include "error.h"
#include "nustream/base/error.h"

namespace nustream::users {
namespace {

Failure contradiction(const std::string& what) {
  return {Exit::data, "the store of users " + what +
                          "; nothing was changed: restore it as it was, or begin a new epoch with --new-epoch, which "
                          "is charged beside what users have spent"};
}

}  // namespace

Rebuild::Rebuild(const UserKey& key, std::string context, const StoreMark& mark, Table& table)
    : key_(key), context_(std::move(context)), mark_(mark), table_(table) {
  NUSTREAM_REQUIRE(table.size() == 0, "a table is rebuilt from nothing");
  // The entries of a part come in the order of their hashes, and would crowd together in a table that is still small.
  // So the table gets its final size first.
  table.reserve(mark.users);
}

Taken Rebuild::take(std::string_view sealed) {
  const RecordPlace place = record_place(sealed);
  if (reached()) {
    require_known(place, sealed);
    return Taken::beyond;
  }
  // The first record may have any number, since older ones were removed; from there on there must be no gap.
  if (last_ && place.number != *last_ + 1) {
    throw contradiction("has record " + std::to_string(place.number) + " after " + std::to_string(*last_) +
                        ": records are missing or out of order");
  }
  apply(open_record(key_, context_, sealed));
  last_ = place.number;
  return Taken::applied;
}

/// Judges a record behind the mark. One that belongs to the next batch is left of a commit that failed; one of a
/// later batch shows that the state is older than the store.
void Rebuild::require_known(const RecordPlace& place, std::string_view sealed) const {
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
  if (record.kind == RecordKind::emptied_changes) table_.clear();
  if (record.kind == RecordKind::epoch) {
    table_.change_all([&](const Standing& standing) {
      return record.mass_before ? carried_over(standing, *record.mass_before, *record.mass_after)
                                : carried_over(standing);
    });
  }
  for (const Entry& entry : record.entries) table_.put(entry);
}

void Rebuild::finish() const {
  if (last_.value_or(0) < mark_.number) {
    throw contradiction("ends at record " + std::to_string(last_.value_or(0)) + " and the state knows " +
                        std::to_string(mark_.number) + ": it was cut, or is an older copy");
  }
  if (table_.size() != mark_.users || digest_of(key_, table_) != mark_.digest) {
    throw contradiction("does not give the table that the state knows: it is thinned out, or another copy's");
  }
}

}  // namespace nustream::users
