// The overlay of an uncommitted batch over the table of users: a look-up goes to the changes first, then to the batch
// that is on its way to be committed, then to the table. Nothing reaches the table except by apply(), after the
// commit.
#include "nustream/users/changes.h"

#include <utility>

#include "nustream/base/error.h"

namespace nustream::users {

// Within one batch a user must not be let in by an old standing.
Standing Changes::find(const UserHash& user) const {
  const std::size_t number = index_.find(user);
  if (number < changes_.size()) return changes_[number].entry.standing;
  // An emptied table has nobody in it, and neither has what lies below: the batch below came before the border.
  if (emptied_) return {};
  return below_ != nullptr ? below_->find(user) : table_->find(user);
}

Entry Changes::entry_of(const UserHash& user) const {
  const std::size_t number = index_.find(user);
  if (number < changes_.size()) return changes_[number].entry;
  if (emptied_) return {user, 0, {}};
  return below_ != nullptr ? below_->entry_of(user) : table_->entry_of(user);
}

/// Sets the standing of a user whose latest entry is `there`. A user who is new gets the number, under `mask` where
/// there is one.
void Changes::set(const Entry& there, const Standing& after, std::uint32_t number, const Mask* mask) {
  NUSTREAM_REQUIRE(after.count != 0, "a changed user has contributed or was closed");
  // Room comes first: memory that runs out must not leave the user with a place in the index and no change.
  if (changes_.size() == changes_.capacity()) changes_.reserve(2 * changes_.size() + 1);
  const std::size_t place = index_.number_of(there.user);
  if (place < changes_.size()) {
    changes_[place].entry.standing = after;
    return;
  }
  const bool is_new = there.standing.count == 0;
  if (is_new && mask != nullptr) number = (*mask)(there.user, number);
  changes_.push_back({{there.user, is_new ? number : there.number, after}, there.standing});
}

// What the batch changed before the border is dropped as well: it would be emptied with the rest.
void Changes::empty_table() noexcept {
  forget();
  emptied_ = true;
}

/// Visits every entry that there is. A user whom several batches changed comes more than once, the latest change
/// first.
template <class Visit>
void Changes::visit(const Visit& visit) const {
  for (const Change& change : changes_) visit(change.entry);
  if (emptied_) return;
  if (below_ != nullptr) return below_->visit(visit);
  for (unsigned part = 0; part < Standings::parts; ++part) table_->visit_part(part, visit);
}

void Changes::begin_window() {
  std::vector<Entry> kept;
  // A closed person whom several batches changed is found more than once; put() keeps one entry, at the limits in
  // either case.
  visit([&](const Entry& entry) {
    if (entry.standing.count == closed_count) kept.push_back(entry);
  });
  empty_table();
  for (const Entry& entry : kept) put(entry);
}

void Changes::apply(Standings& table, std::string_view mark) {
  // Standings that were computed over one table mean nothing over another.
  NUSTREAM_REQUIRE(&table == table_, "changes go into the table that they were made over");
  table.take(changes_, emptied_, mark);
  forget();
}

// The open batch lies above this object, which is empty by now. It moves down, and the next one begins above it.
void Changes::take_over(Changes& above) {
  NUSTREAM_REQUIRE(changes_.empty() && !emptied_ && above.below_ == this, "one batch is on its way at a time");
  std::swap(index_, above.index_);
  std::swap(changes_, above.changes_);
  std::swap(emptied_, above.emptied_);
}

void Changes::forget() noexcept {
  emptied_ = false;
  index_.clear();
  changes_.clear();
}

}  // namespace nustream::users
