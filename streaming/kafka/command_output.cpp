// The half of oauth_token.h that runs a program: posix_spawn without a shell, its output over a pipe, and a deadline
// for the whole. The output is a secret, and stands in no message.
#include "kafka/oauth_token.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "error.h"
#include "secrets/secret_file.h"

namespace nustream::kafka {
namespace {

using Time = std::chrono::steady_clock::time_point;

/// The words of a command, which the settings keep one on a line.
std::vector<std::string> lines_of(std::string_view words) {
  std::vector<std::string> lines;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find('\n'), words.size());
    lines.emplace_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return lines;
}

Failure command_failed(const std::string& program, const std::string& reason) {
  return {Exit::permission, "command " + program + " " + reason + "; try it by hand"};
}

/// Why a command gave no output that can be used.
std::string why_unusable(std::size_t bytes, std::size_t bytes_max, Time until, std::chrono::milliseconds time_max) {
  if (bytes > bytes_max) return "printed more than " + std::to_string(bytes_max) + " bytes";
  if (std::chrono::steady_clock::now() < until) return "has an output that could not be read";
  return "did not end within " + std::to_string(std::chrono::ceil<std::chrono::seconds>(time_max).count()) + " s";
}

/// A child process. It is killed when this is destroyed before it has ended.
class Child {
 public:
  Child(const std::vector<std::string>& words, int output) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    // Standard output goes into the pipe. Standard input is empty, so that a program that asks for something ends.
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    // Not all sockets of the service's libraries are closed on exec. All but the standard descriptors are closed
    // here, so that the program holds none of the service's listeners.
    ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    // The service's threads block signals, and a child inherits that; it has to take signals again.
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    const int error = ::posix_spawnp(&child_, arguments.front(), &actions, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw system_failure(Exit::permission, "run", words.front(), error, "check the path");
  }
  ~Child() {
    // 0 where the child has been waited for already.
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// How it ended; nothing where it has not ended by `until`. It may have closed its output long before it ends.
  [[nodiscard]] std::optional<int> wait(Time until) {
    constexpr std::chrono::milliseconds pause{5};
    int status = 0;
    while (::waitpid(child_, &status, WNOHANG) <= 0) {
      if (std::chrono::steady_clock::now() >= until) return std::nullopt;
      std::this_thread::sleep_for(pause);
    }
    child_ = 0;
    return status;
  }

 private:
  pid_t child_ = 0;
};

/// Reads everything up to the end of the pipe. False where the time runs out, or where there are more than
/// `bytes_max` bytes.
bool read_to_end(int descriptor, std::size_t bytes_max, Time until, std::string& out) {
  // One byte more than allowed is enough to know that there is too much.
  while (out.size() <= bytes_max) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd waits{descriptor, POLLIN, 0};
    // After a signal, or at the end of the time, the time that is left is looked at again.
    if (::poll(&waits, 1, static_cast<int>(left)) <= 0) continue;
    char piece[4096];
    const ssize_t got = ::read(descriptor, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    out.append(piece, static_cast<std::size_t>(got));
  }
  return false;
}

}  // namespace

std::string output_of_command(std::string_view words, std::size_t bytes_max, std::chrono::milliseconds time_max) {
  const Time until = std::chrono::steady_clock::now() + time_max;
  const std::vector<std::string> arguments = lines_of(words);
  if (arguments.empty())
    throw Failure(Exit::configuration, "kafka: kafka.oauth_token_command is empty: name a program");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw system_failure(Exit::io, "make", "a pipe", errno, "raise the limit of open files");
  }
  const secrets::Descriptor reading(ends[0]);
  std::string out;
  {
    // The parent's writing end is closed once the child has its own. Otherwise the pipe would have no end when the
    // child closes it.
    auto writing = std::make_unique<secrets::Descriptor>(ends[1]);
    Child child(arguments, writing->get());
    writing.reset();
    const std::optional<int> status =
        read_to_end(reading.get(), bytes_max, until, out) ? child.wait(until) : std::nullopt;
    if (!status) throw command_failed(arguments.front(), why_unusable(out.size(), bytes_max, until, time_max));
    if (!WIFEXITED(*status)) throw command_failed(arguments.front(), "was ended by a signal");
    if (WEXITSTATUS(*status) != 0) {
      throw command_failed(arguments.front(), "ended with exit code " + std::to_string(WEXITSTATUS(*status)));
    }
  }
  return out;
}

}  // namespace nustream::kafka
