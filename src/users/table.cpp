// The table of users in memory: open addressing, with slots in the order of the hashes. The users' numbers are in an
// array beside them, since a look-up does not need these.
#include "nustream/users/table.h"

#include <algorithm>
#include <utility>

#include "nustream/base/error.h"

namespace nustream::users {
namespace {

constexpr std::size_t slots_min = 64;
/// Slots are loaded this many changes ahead of their use.
constexpr std::size_t changes_ahead = 16;

/// Whether no more than three quarters of the slots would be taken. The free ones keep searches short, and each
/// search ends at one of them.
bool has_room(std::size_t users, std::size_t slots) {
  return users <= slots / 4 * 3;
}

}  // namespace

Table::Table(std::size_t users) {
  reserve(std::max<std::size_t>(users, 1));
}

void Table::reserve(std::size_t users) {
  // Four slots for every three users, so that has_room() holds for all of them.
  const std::size_t slots = std::max(slots_min, (users / 3 + 1) * 4);
  if (slots > slots_.size()) grow(slots);
}

// Ordered slots let grow() and visit_part() go through memory from end to end.
std::size_t Table::home(std::uint64_t high) const noexcept {
  // The product's upper half maps hashes to slots in their order, without a division.
  return static_cast<std::size_t>(static_cast<unsigned __int128>(high) * slots_.size() >> 64);
}

std::size_t Table::slot_of(const UserHash& user) const noexcept {
  std::size_t at = home(user.high);
  // There is always a free slot, so a search for an unknown user ends.
  while (slots_[at].standing.count != 0 && slots_[at].user != user) at = at + 1 == slots_.size() ? 0 : at + 1;
  return at;
}

Standing Table::find(const UserHash& user) const noexcept {
  return slots_[slot_of(user)].standing;
}

Entry Table::entry_of(const UserHash& user) const noexcept {
  const std::size_t at = slot_of(user);
  const Standing& standing = slots_[at].standing;
  return {user, standing.count != 0 ? numbers_[at] : 0, standing};
}

void Table::prefetch(const UserHash& user) const noexcept {
  const std::size_t at = home(user.high);
  __builtin_prefetch(&slots_[at]);
  __builtin_prefetch(&numbers_[at]);
}

void Table::put(const Entry& entry) {
  NUSTREAM_REQUIRE(entry.standing.count != 0, "a user of the table has contributed or was closed");
  std::size_t at = slot_of(entry.user);
  if (slots_[at].standing.count == 0) {
    // The table grows by half, and the slot is looked up again, as all slots have moved.
    if (!has_room(size_ + 1, slots_.size())) {
      grow(slots_.size() + slots_.size() / 2);
      at = slot_of(entry.user);
    }
    ++size_;
    slots_[at].user = entry.user;
    numbers_[at] = entry.number;
  }
  slots_[at].standing = entry.standing;
}

void Table::put(std::span<const Entry> entries) {
  for (const Entry& entry : entries) put(entry);
}

// A table in memory does not outlive the process, so it keeps no mark of its version.
void Table::take(std::span<const Change> changes, bool emptied, std::string_view /*mark*/) {
  if (emptied) clear();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i + changes_ahead < changes.size()) prefetch(changes[i + changes_ahead].entry.user);
    put(changes[i].entry);
  }
}

void Table::change_all(const Carry& carry) {
  for (Slot& slot : slots_) {
    if (slot.standing.count != 0) slot.standing = carry(slot.standing);
  }
}

void Table::visit_part(unsigned part, const Visit& visit) const {
  // A part is the hashes with one value of the highest byte.
  const std::uint64_t first = std::uint64_t{part} << 56;
  const std::size_t from = home(first);
  const std::size_t homes = home(first | (~std::uint64_t{0} >> 8)) - from + 1;
  std::size_t at = from;
  // Entries of the part lie in its own slots, or in the unbroken run of taken slots behind them.
  for (std::size_t i = 0; i < slots_.size() && (i < homes || slots_[at].standing.count != 0); ++i) {
    const Slot& slot = slots_[at];
    if (slot.standing.count != 0 && slot.user.high >> 56 == part)
      visit(Entry{slot.user, numbers_[at], slot.standing});
    at = at + 1 == slots_.size() ? 0 : at + 1;
  }
}

void Table::clear() noexcept {
  std::ranges::fill(slots_, Slot{});
  size_ = 0;
}

// Entries are put in the order of their old slots, which is nearly that of the new ones.
void Table::grow(std::size_t slots) {
  // Both are allocated before the table changes: an allocation that fails must not lose what users have done.
  decltype(slots_) new_slots(slots);
  decltype(numbers_) new_numbers(slots);
  const auto old = std::exchange(slots_, std::move(new_slots));
  const auto numbers = std::exchange(numbers_, std::move(new_numbers));
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (old[i].standing.count == 0) continue;
    const std::size_t at = slot_of(old[i].user);
    slots_[at] = old[i];
    numbers_[at] = numbers[i];
  }
}

}  // namespace nustream::users
