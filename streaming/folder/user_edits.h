// What an operator may do with the users of a folder while no run uses it: count them, close some, or end them all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <optional>

#include "config/config.h"
#include "journal/disk.h"
#include "journal/state_record.h"
#include "nustream/users/limits.h"
#include "users/closing.h"
#include "users/user_totals.h"

namespace nustream::folder {

/// Counts the users of the store beside `state`. Changes nothing. Throws Failure(data) where the state holds no
/// users, or the store is not the state's.
[[nodiscard]] users::UserTotals count_users(journal::Disk& disk, const std::filesystem::path& folder,
                                            const journal::State& state, const users::Limits& limits);

/// Closes the users whose identifiers stand in `identifiers`, one on each line. A closed user contributes to no step
/// any more, in this epoch or a later one; the user's entry stays, and says that it is closed. Returns what the lines
/// named. Throws as a resume does, and Failure(data) where no line names a user.
users::NamedUsers close_users(const config::Config& config, std::optional<std::uint64_t> insecure_seed,
                              std::istream& identifiers);

/// Destroys the users' key in the state, and their store: the stream is over. If a new epoch is begun all the same,
/// it is charged in addition to what users spent. Throws as a resume does.
void end_users(const config::Config& config, std::optional<std::uint64_t> insecure_seed);

}  // namespace nustream::folder
