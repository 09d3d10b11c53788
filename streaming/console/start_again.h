// A process that puts a fresh one in its own place: same command line, same process id.
#pragma once

#include <exception>

namespace nustream::console {

/// Thrown once everything is committed, let go and closed, by a command that wants to begin anew with what its files
/// say now.
struct StartAgain : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "the process starts again"; }
};

/// Runs this program again in its own place, with the arguments and the environment that it was started with. Signals
/// are as at a process's beginning, and no open file goes along but the first three. Returns only by
/// Failure(internal).
[[noreturn]] void start_again();

}  // namespace nustream::console
