// How much the users of a table have used up.
#pragma once

#include <cstdint>
#include <vector>

#include "nustream/users/limits.h"
#include "nustream/users/standings.h"

namespace nustream::users {

/// Depends on data, and is for the operator alone.
struct UserTotals {
  std::uint64_t entries = 0;   ///< users that ever contributed, or were closed
  std::uint64_t at_limit = 0;  ///< those of them that may contribute no more
  /// How many users contributed 1, 2, … times; the last number counts users that contributed that often or more.
  std::vector<std::uint64_t> by_count{};
};

[[nodiscard]] UserTotals count_users(const Standings& table, const Limits& limits);

}  // namespace nustream::users
