// What an operator may do with the users of a folder while nothing runs: count them, close some, end them all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <optional>
#include <vector>

#include "config/config.h"
#include "journal/disk.h"
#include "journal/sealed_state.h"
#include "nustream/users/limits.h"

namespace nustream::folder {

/// How much users have used up. Depends on data: for the operator alone.
struct UserCounts {
  std::uint64_t entries = 0;              ///< users that ever contributed, or were closed
  std::uint64_t at_limit = 0;             ///< of those, they can contribute no more
  std::vector<std::uint64_t> by_count{};  ///< that contributed 1, 2, … times; the last of them so often or more
};

/// Reads the store beside `state`, and changes nothing. Failure(data) where there is none, or it is not the state's.
[[nodiscard]] UserCounts count_users(journal::Disk& disk, const std::filesystem::path& folder,
                                     const journal::State& state, const users::Limits& limits);

/// Closes the users whose identifiers stand one a line in `identifiers`: none of them contributes again, in this
/// epoch or a later one. Their entries stay, at their limits. Returns how many lines there were. Failures as a
/// resume's.
std::uint64_t close_users(const config::Config& config, std::optional<std::uint64_t> insecure_seed,
                          std::istream& identifiers);

/// Destroys the users' key in the state, and their store: the stream is over. Whoever goes on with a new epoch is
/// charged beside what users spent.
void end_users(const config::Config& config, std::optional<std::uint64_t> insecure_seed);

}  // namespace nustream::folder
