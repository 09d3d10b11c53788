// Where the table of a lane's users is.
#pragma once

#include <filesystem>
#include <memory>

#include "nustream/base/units.h"
#include "nustream/users/standings.h"
#include "users/user_key.h"

namespace nustream::users {

/// The folder of a lane's table, in a state folder.
[[nodiscard]] std::filesystem::path table_folder(const std::filesystem::path& state, LaneId lane);
/// Deletes such a table, if there is one.
void forget_table(const std::filesystem::path& state, LaneId lane);

/// The lane's table: in memory, or on disk in the `state` folder.
[[nodiscard]] std::unique_ptr<Standings> open_table(bool on_disk, const std::filesystem::path& state, LaneId lane,
                                                    const UserKey& key);
/// An empty table for whoever only looks at a store: in memory, or in a folder of its own below $TMPDIR, which goes
/// with it.
[[nodiscard]] std::unique_ptr<Standings> scratch_table(bool on_disk, const UserKey& key);

}  // namespace nustream::users
