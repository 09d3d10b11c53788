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

}  // namespace nustream::users
