// Numbers the users of a step or of a batch in the order in which they are met: open addressing over places in a
// list. clear() keeps the memory.
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
  const std::uint32_t tag = tag_of(user);
  const auto is_of_other = [&](const Slot& slot) { return slot.tag != tag || users_[slot.number - 1] != user; };
  while (slots_[at].number != 0 && is_of_other(slots_[at])) at = (at + 1) & last;
  return at;
}

std::size_t UserIndex::number_of(const UserHash& user) {
  std::size_t at = slot_of(user);
  if (slots_[at].number != 0) return slots_[at].number - 1;
  if (2 * (users_.size() + 1) > slots_.size()) {
    grow();
    at = slot_of(user);
  }
  users_.push_back(user);
  slots_[at] = {static_cast<std::uint32_t>(users_.size()), tag_of(user)};
  return users_.size() - 1;
}

std::size_t UserIndex::find(const UserHash& user) const noexcept {
  const std::uint32_t found = slots_[slot_of(user)].number;
  return found != 0 ? found - 1 : size();
}

void UserIndex::clear() noexcept {
  if (16 * users_.size() > slots_.size()) {
    std::ranges::fill(slots_, Slot{});
  } else {
    // The few that are there, as after a step of one record. Each lies in an unbroken run that begins where its hash
    // points, so that clearing these runs to their ends leaves none.
    const std::size_t last = slots_.size() - 1;
    for (const UserHash& user : users_) {
      for (std::size_t at = user.low & last; slots_[at].number != 0; at = (at + 1) & last) slots_[at] = {};
    }
  }
  users_.clear();
}

void UserIndex::grow() {
  // Numbers stay as they are; only their places change.
  slots_.assign(2 * slots_.size(), Slot{});
  for (std::size_t i = 0; i < users_.size(); ++i) {
    slots_[slot_of(users_[i])] = {static_cast<std::uint32_t>(i + 1), tag_of(users_[i])};
  }
}

}  // namespace nustream::users
