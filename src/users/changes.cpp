#include "nustream/users/changes.h"

#include "nustream/base/error.h"

namespace nustream::users {
namespace {

/// Slots of the table are loaded so many changes ahead.
constexpr std::size_t ahead = 16;

}  // namespace

Standing Changes::find(const UserHash& user) const noexcept {
  const std::size_t number = index_.find(user);
  if (number < changes_.size()) return changes_[number].entry.standing;
  return emptied_ ? Standing{} : table_->find(user);
}

void Changes::put(const Entry& entry) {
  NUSTREAM_REQUIRE(entry.standing.count != 0, "a changed user has contributed or was closed");
  const std::size_t number = index_.number_of(entry.user);
  if (number < changes_.size()) {
    changes_[number].entry.standing = entry.standing;
  } else {
    changes_.push_back({entry, emptied_ ? Standing{} : table_->find(entry.user)});
  }
}

void Changes::empty_table() noexcept {
  forget();
  emptied_ = true;
}

void Changes::apply(Table& table) {
  NUSTREAM_REQUIRE(&table == table_, "changes go into the table that they were made over");
  if (emptied_) table.clear();
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    if (i + ahead < changes_.size()) table.prefetch(changes_[i + ahead].entry.user);
    table.put(changes_[i].entry);
  }
  forget();
}

void Changes::forget() noexcept {
  emptied_ = false;
  index_.clear();
  changes_.clear();
}

}  // namespace nustream::users
