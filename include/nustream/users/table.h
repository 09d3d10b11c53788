// Every user's standing in memory: a map from the hash of the identifier to 16 bytes.
//
// A lane asks the table for each record, so a look-up costs one cache line on average. 1e7 users take 480 to 720 MB,
// and 1.2 GB at the moment when the table grows.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nustream/users/gate.h"

namespace nustream::users {

/// A user: 128 bits of a keyed hash of the bytes of its identifier. The probability that some two of
/// 1e9 users have the same hash is 1e-21; they would then share one set of limits.
struct UserHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend auto operator<=>(const UserHash&, const UserHash&) = default;
};

/// One user of a table. `number` is what its lane follows from (placement.h), which the caller masks under a key.
struct Entry {
  UserHash user;
  std::uint32_t number = 0;
  Standing standing;

  friend bool operator==(const Entry&, const Entry&) = default;
};

/// Open addressing with linear probing. The place of a slot follows the order of the hashes, so that growing the
/// table, or reading a part of it, goes through memory once from end to end. Only clear() removes anything.
///
/// The table trusts that a secret key spreads the hashes: whoever could choose them could make look-ups slow. It is
/// not thread-safe.
class Table {
 public:
  /// The bytes of a slot: 32 of hash and standing, and 4 of the number beside them. Once a table has grown, between a
  /// half and three quarters of its slots are taken.
  static constexpr std::size_t slot_bytes = 36;
  /// The number of parts in which a table can be read; a part is given by the first byte of the hash.
  static constexpr unsigned parts = 256;

  /// A table with room for so many users before it grows.
  explicit Table(std::size_t users = 0);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The memory of all slots.
  [[nodiscard]] std::size_t bytes() const noexcept { return slots_.size() * slot_bytes; }

  /// The user's standing; all zeros for a user that is not there.
  [[nodiscard]] Standing find(const UserHash& user) const noexcept;
  /// Begins to load the slot of a user that will be asked for soon.
  void prefetch(const UserHash& user) const noexcept;
  /// Makes room for so many users. Entries that come in the order of their hashes need this first, because they would
  /// all fall into the beginning of a table that is still small.
  void reserve(std::size_t users);
  /// Sets the user's entry. Its count must not be 0, which marks a free slot.
  void put(const Entry& entry);
  /// Forgets everyone, but keeps the memory.
  void clear() noexcept;
  /// Replaces every standing by change(standing), at the beginning of an epoch.
  template <class Change>
  void change_all(const Change& change) {
    for (Slot& slot : slots_) {
      if (slot.standing.count != 0) slot.standing = change(slot.standing);
    }
  }

  /// Calls `visit(entry)` for each user whose hash begins with the byte `part`.
  template <class Visit>
  void visit_part(unsigned part, const Visit& visit) const {
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

 private:
  struct alignas(32) Slot {
    UserHash user;
    Standing standing;
  };
  static_assert(sizeof(Slot) == 32);

  [[nodiscard]] std::size_t home(std::uint64_t high) const noexcept;
  /// The slot of the user, or the empty slot where it belongs.
  [[nodiscard]] std::size_t slot_of(const UserHash& user) const noexcept;
  void grow(std::size_t slots);

  std::size_t size_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> numbers_;  // of the same slots; read where a user is new, and when parts are read
};

}  // namespace nustream::users
