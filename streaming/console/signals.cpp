#include "console/signals.h"

#include <csignal>

#include "error.h"

namespace nustream::console {
namespace {

std::atomic<int> received{0};
std::atomic<bool> any{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

extern "C" void on_signal(int signal) {
  received.store(signal);
  any.store(true);
}

}  // namespace

const std::atomic<int>& watch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // without SA_RESTART a read that waits for a pipe returns
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

}  // namespace nustream::console
