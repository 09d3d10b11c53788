// [privacy] user and [users]: whose a record is, and what one user may do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nustream/users/limits.h"
#include "nustream/users/placement.h"

namespace nustream::config {

struct Config;

/// The settings about users, where they are the unit of privacy.
struct Users {
  std::string column;                 ///< privacy.user: a column, "@key" or "@header:NAME"
  std::vector<std::string> nobody{};  ///< privacy.user_null: identifiers that stand for no user
  /// [users] of a stream. A table has no limits of its own: each user takes part in every step.
  std::optional<users::Limits> limits{};
  bool on_disk = false;   ///< users.store: the table of users is in state.directory instead of memory
  bool are_kept = false;  ///< of a stream: what users used up is kept from run to run
  /// users.partitioner; empty: murmur2 where the column is the key, else the user's own hash.
  std::optional<users::Partitioner> partitioner{};
  /// The partitions of an attached topic, among which users are divided; else 1.
  std::uint32_t lanes = 1;
};

/// [plan]: public guesses of what users do. They serve predictions and change nothing.
struct UserGuesses {
  std::optional<std::uint64_t> users{};    ///< how many there are
  std::optional<std::uint64_t> records{};  ///< how many records each has
  std::uint64_t burst = 1;                 ///< how many of a user's records come one right after the other
  double spread = 1;                       ///< standard deviation of the logarithm of a user's number of records
  std::optional<double> deviation{};       ///< standard deviation of what is a user's own in the target
};

/// How users are divided among lanes: by the topic's own partitioner where they are its keys.
[[nodiscard]] users::Partitioner partitioner_of(const Config& config);

}  // namespace nustream::config
