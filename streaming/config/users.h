// [privacy] user and [users]: who a record belongs to, and what one user may do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nustream/users/limits.h"
#include "nustream/users/placement.h"

namespace nustream::config {

struct Config;

/// Where the unit of privacy is the user.
struct Users {
  std::string column;                 ///< privacy.user: a column, "@key" or "@header:NAME"
  std::vector<std::string> nobody{};  ///< privacy.user_null: identifiers that stand for no user
  /// Of a stream, [users]. A table has none of its own: each user takes part in every step.
  std::optional<users::Limits> limits{};
  bool on_disk = false;   ///< users.store: the table of users is in state.directory, else in memory
  bool are_kept = false;  ///< what users used up is kept from run to run: of a stream
  /// users.partitioner; empty for that of the column: murmur2 where it is the key, else the user's hash.
  std::optional<users::Partitioner> partitioner{};
  /// Partitions of an attached topic, among which users are divided; 1 of everything else.
  std::uint32_t lanes = 1;
};

/// [plan]: public guesses of what users do; they predict, and change nothing.
struct UserGuesses {
  std::optional<std::uint64_t> users{};    ///< how many there are
  std::optional<std::uint64_t> records{};  ///< of each
  std::uint64_t burst = 1;                 ///< of those that come one right after the other
};

/// By what users are divided among lanes: the topic's own partitioner where they are its keys.
[[nodiscard]] users::Partitioner partitioner_of(const Config& config);

}  // namespace nustream::config
