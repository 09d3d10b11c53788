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
  /// The number of the user or of another one with its first slot, or size() where that slot is free. To be asked
  /// once what prefetch() began has come; what the caller keeps under this number is most likely needed next.
  [[nodiscard]] std::size_t likely(const UserHash& user) const noexcept {
    const std::uint32_t number = slots_[user.low & (slots_.size() - 1)].number;
    if (number == 0) return size();
    __builtin_prefetch(&users_[number - 1]);
    return number - 1;
  }
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
  [[nodiscard]] std::size_t place_in_list(const UserHash& user) const noexcept;
  void use_slots(std::size_t count);

  std::vector<UserHash, HugePages<UserHash>> users_;
  // All are free while there are no more users than `few`, who are found in the list itself. Their count is a power
  // of two.
  std::vector<Slot, HugePages<Slot>> slots_;
};

}  // namespace nustream::users
