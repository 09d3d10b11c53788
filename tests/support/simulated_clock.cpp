// This file is linked before the library's own and replaces this program's steady clock and its sleep.
#include "simulated_broker.h"

#include <errno.h>
#include <time.h>

#include <atomic>

namespace {

// The clock begins some time after its zero, since deadlines are computed in both directions.
std::atomic<std::int64_t> simulated_nanoseconds{std::int64_t{1'000'000} * 1'000'000'000};

}  // namespace

namespace nustream::tests {

void pass_time(std::chrono::nanoseconds time) {
  simulated_nanoseconds += time.count();
}

}  // namespace nustream::tests

std::chrono::steady_clock::time_point std::chrono::_V2::steady_clock::now() noexcept {
  return time_point(nanoseconds(simulated_nanoseconds.load()));
}

extern "C" int nanosleep(const timespec* time, timespec* /*left*/) {
  nustream::tests::pass_time(std::chrono::seconds(time->tv_sec) + std::chrono::nanoseconds(time->tv_nsec));
  return 0;
}

/// Refuses timers, so that an event loop asks the clock above.
extern "C" int timerfd_create(int /*clock*/, int /*flags*/) noexcept {
  errno = ENOSYS;
  return -1;
}
