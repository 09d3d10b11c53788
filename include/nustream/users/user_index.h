// Numbers users in the order in which they were met. The index is small and emptied often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nustream/users/huge_pages.h"
#include "nustream/users/standings.h"

namespace nustream::users {

/// Numbers the users of a step or a batch from 0. It trusts the hashes as Table does.
class UserIndex {
 public:
  UserIndex();
  /// The user's number. A new user gets the next one, which is size() before the call.
  std::size_t number_of(const UserHash& user);
  /// The user's number, or size() where the user was not met.
  [[nodiscard]] std::size_t find(const UserHash& user) const noexcept;
  /// Begins to load where the user's number is looked up.
  void prefetch(const UserHash& user) const noexcept { __builtin_prefetch(&slots_[user.low & (slots_.size() - 1)]); }
  [[nodiscard]] std::size_t size() const noexcept { return users_.size(); }
  void clear() noexcept;

 private:
  /// A user's number plus 1, or 0 for none, and half of one half of its hash: mostly that tells another user apart
  /// without a look at the list, which would be a second miss of the cache.
  struct Slot {
    std::uint32_t number;
    std::uint32_t tag;
  };

  [[nodiscard]] static std::uint32_t tag_of(const UserHash& user) noexcept {
    return static_cast<std::uint32_t>(user.high);
  }
  [[nodiscard]] std::size_t slot_of(const UserHash& user) const noexcept;
  void grow();

  std::vector<UserHash, HugePages<UserHash>> users_;
  std::vector<Slot, HugePages<Slot>> slots_;  // their count is a power of two
};

}  // namespace nustream::users
