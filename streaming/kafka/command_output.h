// What a command of the user's prints.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace nustream::kafka {

/// Runs a program with its arguments, one word a line of `words`, without a shell, and returns what it prints on
/// standard output. Its standard error is this process's. Failure(permission) where it cannot be started, ends with
/// another code than 0, prints more than `bytes_max`, or has not ended in time, whether or not its output has (then
/// it is killed); no message holds what it printed. It inherits no descriptor but the standard ones.
[[nodiscard]] std::string output_of_command(std::string_view words, std::size_t bytes_max,
                                            std::chrono::milliseconds time_max = std::chrono::seconds{30});

}  // namespace nustream::kafka
