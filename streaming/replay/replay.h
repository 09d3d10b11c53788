// `nustream replay`: runs a recorded stream through one lane, from its input to the table at the end.
#pragma once

#include <string>

#include "config/config.h"
#include "error.h"
#include "folder/account_share.h"
#include "folder/options.h"

namespace nustream::replay {

/// Runs until the input ends, a limit is reached or a signal comes; prints the path of estimates and the table.
/// `share` is the folder's part of its account. Returns the exit code, and throws Failure.
[[nodiscard]] Exit run(config::Config config, const folder::Options& options, folder::AccountShare& share);

}  // namespace nustream::replay
