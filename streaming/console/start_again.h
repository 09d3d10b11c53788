// A process that puts a fresh one in its own place: same command line but for what is said once for all, same process
// id.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <vector>

namespace nustream::console {

/// Thrown once everything is committed, let go and closed, by a command that wants to begin anew with what its files
/// say now.
struct StartAgain : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "the process starts again"; }
};

/// An option that is for one beginning of a process alone.
struct OnceOption {
  std::string name;
  bool has_value;
};

/// `arguments` without these options and their values, in either spelling: NAME VALUE and NAME=VALUE.
[[nodiscard]] std::vector<std::string> without(std::vector<std::string> arguments, std::span<const OnceOption> once);

/// Runs this program again in its own place, with the environment that it was started with, and with its arguments
/// but for those of `once`. Signals are as at a process's beginning, and no open file goes along but the first three.
/// Returns only by Failure(internal).
[[noreturn]] void start_again(std::span<const OnceOption> once);

}  // namespace nustream::console
