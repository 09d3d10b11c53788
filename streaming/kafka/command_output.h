// Runs a command of the user's, and takes what it prints.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace nustream::kafka {

/// Runs a program with its arguments, without a shell, and returns what it prints on standard output. `words` has the
/// program and each argument on a line of its own. Standard error is this process's; the program inherits no other
/// descriptors.
///
/// Throws Failure(permission) where it cannot be started, ends with another code than 0, prints more than
/// `bytes_max`, or has not ended within `time_max`, after which it is killed. No message holds what it printed.
[[nodiscard]] std::string output_of_command(std::string_view words, std::size_t bytes_max,
                                            std::chrono::milliseconds time_max = std::chrono::seconds{30});

}  // namespace nustream::kafka
