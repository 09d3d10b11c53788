// Where the table of a lane's users lies, and the failure for a damaged one.
#pragma once

#include <filesystem>
#include <memory>

#include "error.h"
#include "nustream/base/units.h"
#include "nustream/users/standings.h"
#include "users/user_key.h"

namespace nustream::users {

/// The store of users is not affected, so that the next start makes the table anew from it.
class DamagedTable : public Failure {
 public:
  explicit DamagedTable(const std::filesystem::path& folder)
      : Failure(Exit::data, "the table of users in " + folder.string() +
                                " is damaged; start again with --resume: it is made anew from the store of users") {}
};

/// Whether a failure to read what is known of users says that their store is lost. A damaged table does not: it is a
/// copy of the store.
[[nodiscard]] inline bool tells_of_lost_store(const Failure& failure) {
  return failure.code() == Exit::data && dynamic_cast<const DamagedTable*>(&failure) == nullptr;
}

/// The folder of a lane's table, in a state folder.
[[nodiscard]] std::filesystem::path table_folder(const std::filesystem::path& state, LaneId lane);
/// Deletes such a table, if there is one.
void forget_table(const std::filesystem::path& state, LaneId lane);

/// The lane's table: in memory, or on disk in the `state` folder.
[[nodiscard]] std::unique_ptr<Standings> open_table(bool on_disk, const std::filesystem::path& state, LaneId lane,
                                                    const UserKey& key);
/// An empty table for a command that only looks at a store: in memory, or in a folder of its own below $TMPDIR, which
/// goes with it.
[[nodiscard]] std::unique_ptr<Standings> scratch_table(bool on_disk, const UserKey& key);

}  // namespace nustream::users
