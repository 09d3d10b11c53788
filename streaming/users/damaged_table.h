// The table of users on disk is not what was written there.
#pragma once

#include <filesystem>

#include "error.h"

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

}  // namespace nustream::users
