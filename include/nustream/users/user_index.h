// Numbers users in the order in which they were met. The index is small and emptied often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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
  [[nodiscard]] std::size_t slot_of(const UserHash& user) const noexcept;
  void grow();

  std::vector<UserHash> users_;
  std::vector<std::uint32_t> slots_;  // a user's number plus 1, or 0 for none; their count is a power of two
};

}  // namespace nustream::users
