// Signals that end a run, and a process that starts itself again.
#pragma once

#include <atomic>
#include <exception>
#include <span>
#include <string>
#include <vector>

namespace nustream::console {

/// Installs the handlers, which interrupt blocking reads; a second signal of the same kind ends the process as usual.
/// Returns the flag: 0, SIGINT or SIGTERM.
[[nodiscard]] const std::atomic<int>& watch_signals();

/// The same flag as true or false, for calls that can be told to give up.
[[nodiscard]] const std::atomic<bool>& signalled();

/// Throws Failure(interrupted) once a signal has come. It is for commands that read before anything has changed.
void require_no_signal();

/// Thrown by a command that wants to begin anew, with its files read again, once everything is committed, released
/// and closed.
struct StartAgain : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "the process starts again"; }
};

/// An option that holds for one start of a process only.
struct OnceOption {
  std::string name;
  bool has_value;
};

/// `arguments` without these options and their values, which may be spelled NAME VALUE or NAME=VALUE.
[[nodiscard]] std::vector<std::string> without(std::vector<std::string> arguments, std::span<const OnceOption> once);

/// Runs this program again in its own place, with the environment that it was started with and its arguments without
/// those of `once`. Signals are as at a process's beginning, and no open file is kept but the first three. It returns
/// only by throwing Failure(internal).
[[noreturn]] void start_again(std::span<const OnceOption> once);

}  // namespace nustream::console
