// Lets a process put a fresh one in its own place, with the same process id and the same command line, but for
// options that are meant once.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <vector>

namespace nustream::console {

/// Thrown by a command that wants to begin anew with what its files say now, once everything is committed, released
/// and closed.
struct StartAgain : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "the process starts again"; }
};

/// An option that is meant for one beginning of a process alone.
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
