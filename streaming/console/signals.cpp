// SIGINT and SIGTERM become a flag that loops look at, so that a run ends in order. start_again() replaces the
// process by the same program, for files that only a new process reads again.
#include "console/signals.h"

#include <linux/close_range.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "error.h"

namespace nustream::console {
namespace {

// Two flags for one event: some calls ask which signal it was, others take an atomic bool.
std::atomic<int> received{0};
std::atomic<bool> any{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

/// Runs between any two instructions of the process, so that it may do no more than this.
extern "C" void on_signal(int signal) {
  received.store(signal);
  any.store(true);
}

}  // namespace

const std::atomic<int>& watch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // without SA_RESTART, a read that waits for a pipe returns
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return received;
}

const std::atomic<bool>& signalled() {
  return any;
}

void require_no_signal() {
  if (received.load() == 0) return;
  throw Failure(Exit::interrupted,
                "interrupted while the input was read; nothing has changed: give the same command again");
}

namespace {

/// The command line as the kernel keeps it: arguments, each ended by a zero byte.
std::vector<std::string> own_arguments() {
  // The command line is not handed down to here.
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string one; std::getline(file, one, '\0');) arguments.push_back(one);
  return arguments;
}

/// Gives signals their defaults again: an ignored or blocked signal would stay so in the program that replaces this
/// one.
void forget_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

std::vector<std::string> without(std::vector<std::string> arguments, std::span<const OnceOption> once) {
  std::vector<std::string> kept;
  bool is_value = false;  // the next argument is the value of an option that is left out
  for (std::string& argument : arguments) {
    if (std::exchange(is_value, false)) continue;
    const auto option = std::ranges::find_if(
        once, [&](const OnceOption& each) { return argument == each.name || argument.starts_with(each.name + '='); });
    if (option == once.end()) {
      kept.push_back(std::move(argument));
    } else {
      // "--write-config new.toml" leaves out two arguments, "--write-config=new.toml" is one.
      is_value = option->has_value && argument == option->name;
    }
  }
  return kept;
}

void start_again(std::span<const OnceOption> once) {
  std::vector<std::string> arguments = without(own_arguments(), once);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  forget_signals();
  // Files close at exec rather than now: if exec fails, the process can still say so and end in order.
  static_cast<void>(::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC));
  // The program that runs, also where its file was replaced or its folder left since the start.
  ::execv("/proc/self/exe", argv.data());
  throw Failure(Exit::internal,
                std::string("cannot start again in place: ") + std::strerror(errno) + "; start the service");
}

}  // namespace nustream::console
