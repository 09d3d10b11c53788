// Runs a program as a child: starts it with one more variable in its environment, and kills it or waits for it.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace nustream::tests {

/// How a child ended.
struct Ended {
  bool killed;  ///< by SIGKILL
  int code;     ///< exit code, where it was not killed
};

class ChildProcess {
 public:
  /// Starts `program` with `arguments`. `variable` is NAME=VALUE, or empty.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments, const std::string& variable) {
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    std::vector<char*> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
    if (!variable.empty()) environment.push_back(const_cast<char*>(variable.c_str()));
    environment.push_back(nullptr);
    child_ = ::fork();
    if (child_ < 0) throw std::runtime_error("cannot fork");
    if (child_ == 0) {
      ::execve(program.c_str(), argv.data(), environment.data());
      ::_exit(127);
    }
  }
  ~ChildProcess() {
    if (child_ > 0) {
      kill();
      static_cast<void>(wait());
    }
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void kill() const { ::kill(child_, SIGKILL); }
  [[nodiscard]] Ended wait() {
    int status = 0;
    if (::waitpid(child_, &status, 0) != child_) throw std::runtime_error("cannot wait for the child");
    child_ = 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return {true, 0};
    return {false, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
  }

 private:
  pid_t child_ = 0;
};

}  // namespace nustream::tests
