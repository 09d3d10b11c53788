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
struct InputSettings;

/// The settings about users, where they are the unit of privacy.
struct Users {
  std::string column;                 ///< privacy.user: a column, "@key" or "@header:NAME"
  std::vector<std::string> nobody{};  ///< privacy.user_null: identifiers that stand for no user
  /// [users] of a stream. A table has no limits of its own: each user takes part in every step.
  std::optional<users::Limits> limits{};
  /// What a state keeps of how users are told apart: the column, and where it is a field of a record, how that field
  /// is found. Counts carry over only where it stays the same (identity_of_users()).
  std::string identity{};
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

/// The text for Users::identity. Two inputs with one such text have the same users where their identifiers are the
/// same bytes. For example, "user of json" and "user of csv" differ: 42 in one may be written 00042 in the other. A
/// message's key and its headers are beside its value, whose format says nothing of them.
[[nodiscard]] std::string identity_of_users(const std::string& column, const InputSettings& input);

/// How users are divided among lanes: by the topic's own partitioner where they are its keys.
[[nodiscard]] users::Partitioner partitioner_of(const Config& config);

}  // namespace nustream::config
