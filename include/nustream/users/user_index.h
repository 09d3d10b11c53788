// Users in the order in which they were met: small, and emptied often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nustream/users/table.h"

namespace nustream::users {

/// Numbers the users of a step or a batch from 0. Trusts the hashes as Table does.
class UserIndex {
 public:
  UserIndex();
  /// The user's number: size() before the call, where the user is new.
  std::size_t number_of(const UserHash& user);
  /// The same; size() where the user was not met.
  [[nodiscard]] std::size_t find(const UserHash& user) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return users_.size(); }
  void clear() noexcept;

 private:
  [[nodiscard]] std::size_t slot_of(const UserHash& user) const noexcept;
  void grow();

  std::vector<UserHash> users_;
  std::vector<std::uint32_t> slots_;  // one more than a user's number, 0 for none; a power of two of them
};

}  // namespace nustream::users
