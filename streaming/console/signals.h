// SIGINT and SIGTERM as a flag that the engine looks at between slices.
#pragma once

#include <atomic>

namespace nustream::console {

/// Installs the handlers (blocking reads are interrupted); a second signal of the same kind ends the process as
/// usual. Returns the flag: 0, SIGINT or SIGTERM.
[[nodiscard]] const std::atomic<int>& watch_signals();

/// The same as yes or no, for what can be told to give up.
[[nodiscard]] const std::atomic<bool>& signalled();

/// Failure(interrupted) once a signal has come: for what reads before anything has changed.
void require_no_signal();

}  // namespace nustream::console
