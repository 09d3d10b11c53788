// Every user's standing in memory: a map from the hash of the identifier to 16 bytes.
//
// A lane asks the table for each record, so a look-up costs one cache line on average. 1e7 users take 480 to 720 MB,
// and 1.2 GB at the moment when the table grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nustream/users/huge_pages.h"
#include "nustream/users/standings.h"

namespace nustream::users {

/// Open addressing with linear probing. The place of a slot follows the order of the hashes, so that growing the
/// table, or reading a part of it, goes through memory once from end to end. Only clear() removes anything.
///
/// The table trusts that a secret key spreads the hashes: somebody who could choose hashes could make look-ups slow.
/// It is not thread-safe.
class Table final : public Standings {
 public:
  /// The bytes of a slot: 32 of hash and standing, and 4 of the number beside them. Once a table has grown, between a
  /// half and three quarters of its slots are taken.
  static constexpr std::size_t slot_bytes = 36;

  /// A table with room for `users` users before it grows.
  explicit Table(std::size_t users = 0);

  [[nodiscard]] std::size_t size() const noexcept override { return size_; }
  /// The memory of all slots.
  [[nodiscard]] std::size_t bytes() const noexcept { return slots_.size() * slot_bytes; }

  [[nodiscard]] Standing find(const UserHash& user) const noexcept override;
  [[nodiscard]] Entry entry_of(const UserHash& user) const noexcept override;
  /// Begins to load the slot of the user.
  void prefetch(const UserHash& user) const noexcept override;
  /// Makes room for `users` users. Entries that come in the order of their hashes need this first, because they would
  /// all fall into the beginning of a table that is still small.
  void reserve(std::size_t users) override;
  /// Sets the user's entry. Its count must not be 0, which marks a free slot.
  void put(const Entry& entry);
  void put(std::span<const Entry> entries) override;
  /// Forgets everyone, but keeps the memory.
  void clear() noexcept override;
  void take(std::span<const Change> changes, bool emptied, std::string_view mark) override;
  void change_all(const Carry& carry) override;
  void visit_part(unsigned part, const Visit& visit) const override;

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
  std::vector<Slot, HugePages<Slot>> slots_;
  // Of the same slots; read where a batch changes a user, and when parts are read.
  std::vector<std::uint32_t, HugePages<std::uint32_t>> numbers_;
};

}  // namespace nustream::users
