// SIGINT and SIGTERM as a flag that the engine looks at between slices.
#pragma once

#include <atomic>

namespace nustream::console {

/// Installs the handlers, which interrupt blocking reads; a second signal of the same kind ends the process as usual.
/// Returns the flag: 0, SIGINT or SIGTERM.
[[nodiscard]] const std::atomic<int>& watch_signals();

/// The same flag as yes or no, for calls that can be told to give up.
[[nodiscard]] const std::atomic<bool>& signalled();

/// Throws Failure(interrupted) once a signal has come. It is for commands that read before anything has changed.
void require_no_signal();

}  // namespace nustream::console
