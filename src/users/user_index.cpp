// Numbers the users of a step or of a batch in the order in which they are met: open addressing over 32-bit places in
// a list. clear() keeps the memory.
#include "nustream/users/user_index.h"

#include <algorithm>

namespace nustream::users {
namespace {

constexpr std::size_t fewest_slots = 64;

}  // namespace

UserIndex::UserIndex() : slots_(fewest_slots) {}

std::size_t UserIndex::slot_of(const UserHash& user) const noexcept {
  const std::size_t last = slots_.size() - 1;
  // The hash is spread by a secret key, so its low bits serve as they are.
  std::size_t at = user.low & last;
  // At most half of the slots are taken, so searches are short and each ends at a free slot if nowhere else.
  while (slots_[at] != 0 && users_[slots_[at] - 1] != user) at = (at + 1) & last;
  return at;
}

std::size_t UserIndex::number_of(const UserHash& user) {
  std::size_t at = slot_of(user);
  if (slots_[at] != 0) return slots_[at] - 1;
  if (2 * (users_.size() + 1) > slots_.size()) {
    grow();
    at = slot_of(user);
  }
  users_.push_back(user);
  slots_[at] = static_cast<std::uint32_t>(users_.size());
  return users_.size() - 1;
}

std::size_t UserIndex::find(const UserHash& user) const noexcept {
  const std::uint32_t found = slots_[slot_of(user)];
  return found != 0 ? found - 1 : size();
}

void UserIndex::clear() noexcept {
  users_.clear();
  std::ranges::fill(slots_, 0U);
}

void UserIndex::grow() {
  // Numbers stay as they are; only their places change.
  slots_.assign(2 * slots_.size(), 0);
  for (std::size_t i = 0; i < users_.size(); ++i) slots_[slot_of(users_[i])] = static_cast<std::uint32_t>(i + 1);
}

}  // namespace nustream::users
