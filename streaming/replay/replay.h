// `nustream replay`: a recorded stream through one lane, end to end.
#pragma once

#include <string>

#include "config/config.h"
#include "error.h"
#include "replay/options.h"

namespace nustream::replay {

/// "nustream replay CONFIG FILE… --set … OPTION": the command to type next, with what this run was given.
[[nodiscard]] std::string replay_command(const config::Config& config, const Options& options,
                                         const std::string& option);

/// Runs to the end of the input, a limit or a signal; prints the path and the table. Throws Failure.
[[nodiscard]] Exit run(const config::Config& config, const Options& options);

}  // namespace nustream::replay
