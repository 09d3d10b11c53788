// Runs the real command as a child, and keeps its exit code and what it printed.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "temporary_folder.h"

namespace nustream::tests {

struct CommandResult {
  int code;               ///< exit code, or 128 + signal
  std::string out;        ///< standard output
  std::string err;        ///< standard error
  long resident_kib = 0;  ///< the most memory that it had at any time
};

/// The program to test: where NUSTREAM_PLANTED_PROGRAMS is set, the program's twin that holds planted bugs, if it is
/// there beside it.
inline std::string program_under_test(const std::string& program) {
  const std::string planted = program + "_planted";
  return std::getenv("NUSTREAM_PLANTED_PROGRAMS") != nullptr && std::filesystem::exists(planted) ? planted : program;
}

/// The folder for keys and witnesses of commands that name no place for them. It is never the user's own.
inline const std::string& configuration_folder() {
  static const TemporaryFolder folder;
  static const std::string path = folder.path().string();
  return path;
}

/// This process's environment with `variables` ("NAME=VALUE") in place of those of the same names; "NAME" alone
/// removes one.
inline std::vector<std::string> environment_with(std::vector<std::string> variables) {
  const auto name_of = [](const std::string& variable) { return variable.substr(0, variable.find('=')); };
  const auto is_given = [&](const std::string& name) {
    return std::any_of(variables.begin(), variables.end(), [&](const std::string& v) { return name_of(v) == name; });
  };
  if (!is_given("XDG_CONFIG_HOME")) variables.push_back("XDG_CONFIG_HOME=" + configuration_folder());
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!is_given(name_of(*entry))) environment.emplace_back(*entry);
  }
  for (const std::string& variable : variables) {
    if (variable.find('=') != std::string::npos) environment.push_back(variable);
  }
  return environment;
}

/// A started command. Its standard output and error go to files, so that no pipe can fill up and hold it.
class Command {
 public:
  /// `input` is a file for standard input; without it that is /dev/null. `variables` are those of environment_with().
  Command(const std::string& of, const std::vector<std::string>& arguments,
          const std::optional<std::string>& input = {}, const std::vector<std::string>& variables = {}) {
    const std::string program = program_under_test(of);
    const std::string out = (folder_.path() / "out").string();
    const std::string err = (folder_.path() / "err").string();
    const std::string in = input.value_or("/dev/null");
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    std::vector<std::string> all = environment_with(variables);
    std::vector<char*> environment;
    for (std::string& variable : all) environment.push_back(variable.data());
    environment.push_back(nullptr);
    child_ = ::fork();
    if (child_ < 0) throw std::runtime_error("cannot fork");
    if (child_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // so that nothing outlives a test that is killed
    redirect(in, O_RDONLY, STDIN_FILENO);
    redirect(out, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(err, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    ::execve(program.c_str(), argv.data(), environment.data());
    ::_exit(127);
  }
  ~Command() {
    if (child_ <= 0) return;
    signal(SIGKILL);
    const CommandResult killed = wait();
    // A test that ends by an exception most likely waited in vain, and does not say for which command.
    if (std::uncaught_exceptions() > 0) std::fprintf(stderr, "the command had said:\n%s\n", killed.err.c_str());
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  void signal(int number) const { ::kill(child_, number); }
  /// Whether it has ended. wait() still gives its result.
  [[nodiscard]] bool has_ended() const {
    siginfo_t end{};
    return ::waitid(P_PID, static_cast<id_t>(child_), &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid != 0;
  }
  [[nodiscard]] CommandResult wait() {
    int status = 0;
    rusage usage{};
    if (::wait4(child_, &status, 0, &usage) != child_) throw std::runtime_error("cannot wait for the command");
    child_ = 0;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {code, read_file(folder_.path() / "out"), read_file(folder_.path() / "err"), usage.ru_maxrss};
  }
  [[nodiscard]] pid_t pid() const noexcept { return child_; }

 private:
  static void redirect(const std::string& file, int flags, int descriptor) {
    const int opened = ::open(file.c_str(), flags, 0600);
    if (opened < 0 || ::dup2(opened, descriptor) < 0) ::_exit(126);
  }

  TemporaryFolder folder_;
  pid_t child_ = 0;
};

/// Runs the command to its end.
inline CommandResult run_command(const std::string& program, const std::vector<std::string>& arguments,
                                 const std::optional<std::string>& input = {},
                                 const std::vector<std::string>& variables = {}) {
  Command command(program, arguments, input, variables);
  return command.wait();
}

}  // namespace nustream::tests
