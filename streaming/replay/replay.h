// `nustream replay`: a recorded stream through one lane, end to end.
#pragma once

#include <string>

#include "config/config.h"
#include "error.h"
#include "folder/account_share.h"
#include "folder/options.h"

namespace nustream::replay {

/// Runs to the end of the input, a limit or a signal; prints the path and the table. Throws Failure.
[[nodiscard]] Exit run(config::Config config, const folder::Options& options, folder::AccountShare& share);

}  // namespace nustream::replay
