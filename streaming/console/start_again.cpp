#include "console/start_again.h"

#include <linux/close_range.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "error.h"

namespace nustream::console {
namespace {

/// As the kernel keeps it: arguments, each ended by a zero byte.
std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string one; std::getline(file, one, '\0');) arguments.push_back(one);
  return arguments;
}

/// A signal that is ignored or blocked stays so in the program that takes this one's place.
void forget_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

void start_again() {
  std::vector<std::string> arguments = own_arguments();
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  forget_signals();
  static_cast<void>(::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC));
  ::execv("/proc/self/exe", argv.data());
  throw Failure(Exit::internal,
                std::string("cannot start again in place: ") + std::strerror(errno) + "; start the service");
}

}  // namespace nustream::console
