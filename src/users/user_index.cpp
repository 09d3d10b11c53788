// Numbers the users of a step or of a batch in the order in which they are met: open addressing over places in a
// list. clear() keeps the memory.
#include "nustream/users/user_index.h"

#include <algorithm>

namespace nustream::users {
namespace {

constexpr std::size_t fewest_slots = 64;
/// So many users are compared one by one, which is faster than slots. Most steps are of one user.
constexpr std::size_t few = 4;

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

/// The user's place among the few of the list, or size() where it is not there.
std::size_t UserIndex::place_in_list(const UserHash& user) const noexcept {
  std::size_t place = 0;
  while (place < users_.size() && users_[place] != user) ++place;
  return place;
}

std::size_t UserIndex::number_of(const UserHash& user) {
  if (const std::size_t found = find(user); found < size()) return found;
  if (users_.size() < few) {
    users_.push_back(user);
    return users_.size() - 1;
  }
  // Memory that runs out must leave neither a slot without a user nor slots that are not cleared.
  if (users_.size() == users_.capacity()) users_.reserve(2 * users_.size());
  // The slots are used from the first user beyond the few, and doubled when half of them are taken.
  if (users_.size() == few || 2 * (users_.size() + 1) > slots_.size()) {
    use_slots(users_.size() == few ? slots_.size() : 2 * slots_.size());
  }
  users_.push_back(user);
  slots_[slot_of(user)] = {static_cast<std::uint32_t>(users_.size()), tag_of(user)};
  return users_.size() - 1;
}

std::size_t UserIndex::find(const UserHash& user) const noexcept {
  if (users_.size() <= few) return place_in_list(user);
  const std::uint32_t found = slots_[slot_of(user)].number;
  return found != 0 ? found - 1 : size();
}

void UserIndex::clear() noexcept {
  if (16 * users_.size() > slots_.size()) {
    std::ranges::fill(slots_, Slot{});
  } else if (users_.size() > few) {
    // Each user lies in an unbroken run of slots that begins where its hash points, so that clearing these runs to
    // their ends leaves none.
    const std::size_t last = slots_.size() - 1;
    for (const UserHash& user : users_) {
      for (std::size_t at = user.low & last; slots_[at].number != 0; at = (at + 1) & last) slots_[at] = {};
    }
  }
  users_.clear();
}

/// Gives every user a slot, of `count` slots.
void UserIndex::use_slots(std::size_t count) {
  // Numbers stay as they are; only their places change. More slots are a new memory, so that one that cannot be had
  // leaves the index as it was.
  if (count != slots_.size()) slots_ = decltype(slots_)(count);
  for (std::size_t i = 0; i < users_.size(); ++i) {
    slots_[slot_of(users_[i])] = {static_cast<std::uint32_t>(i + 1), tag_of(users_[i])};
  }
}

}  // namespace nustream::users
