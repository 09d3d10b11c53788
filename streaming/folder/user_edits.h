// What an operator may do with the users of a folder while nothing runs: count them, close some, end them all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <optional>

#include "config/config.h"
#include "journal/disk.h"
#include "journal/sealed_state.h"
#include "nustream/users/limits.h"
#include "users/user_counts.h"

namespace nustream::folder {

/// Reads the store beside `state`, and changes nothing. Failure(data) where there is none, or it is not the state's.
[[nodiscard]] users::UserCounts count_users(journal::Disk& disk, const std::filesystem::path& folder,
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
