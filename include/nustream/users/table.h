// Every user's standing, in memory: a hash of the identifier to 16 bytes.
//
// A lane asks for each record, so that a look-up is one line of the cache on average. 1e7 users take 480 to 720 MB,
// and 1.2 GB for the moment in which the table grows.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nustream/users/gate.h"

namespace nustream::users {

/// A user: 128 bits of a keyed hash of the identifier's bytes. Two of 1e9 users share one with probability 1e-21;
/// they would then share one set of limits.
struct UserHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend auto operator<=>(const UserHash&, const UserHash&) = default;
};

/// One user of a table. `number` is the partitioner's (placement.h), masked by the caller under a key.
struct Entry {
  UserHash user;
  std::uint32_t number = 0;
  Standing standing;

  friend bool operator==(const Entry&, const Entry&) = default;
};

/// Open addressing with linear probing. A slot's place follows the hash's order, so that growing, and reading a part
/// of the table, go through memory once from end to end. Nothing is ever removed but by clear().
///
/// The table trusts that hashes are spread by a secret key: whoever could choose them could make look-ups slow. Not
/// thread-safe.
class Table {
 public:
  /// A slot: 32 bytes of hash and standing, and 4 of the partitioner's number beside them. Between a half and three
  /// quarters of the slots are taken once a table has grown.
  static constexpr std::size_t slot_bytes = 36;
  /// A table is read in so many parts, by the first byte of the hash.
  static constexpr unsigned parts = 256;

  /// With room for so many users before it grows.
  explicit Table(std::size_t users = 0);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Of all slots.
  [[nodiscard]] std::size_t bytes() const noexcept { return slots_.size() * slot_bytes; }

  /// All zeros for a user that is not there.
  [[nodiscard]] Standing find(const UserHash& user) const noexcept;
  /// Begins to load the slot of a user that will be asked for.
  void prefetch(const UserHash& user) const noexcept;
  /// Makes room for so many users. Entries that come in the order of their hashes need it first: in a table that is
  /// still small they would all fall into its beginning.
  void reserve(std::size_t users);
  /// The user's entry from now on. Its count is not 0.
  void put(const Entry& entry);
  /// Forgets everyone; keeps the memory.
  void clear() noexcept;
  /// What of every standing is to become of it: at the beginning of an epoch.
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
    // Entries of the part lie in its own slots or in the unbroken run of taken ones behind them.
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
  /// Of the user, or the empty one where it belongs.
  [[nodiscard]] std::size_t slot_of(const UserHash& user) const noexcept;
  void grow(std::size_t slots);

  std::size_t size_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> numbers_;  // of the same slots; looked at where a user is new, and when parts are read
};

}  // namespace nustream::users
