// Times that a test measures on the machine that it runs on, for bounds that hold on a busy one (tests/README.md).
#pragma once

#include <algorithm>
#include <chrono>

#include "command.h"

namespace nustream::tests {

/// The longest time, in ten tries just now, from start to end of a program that does nothing: about 2 ms on an idle
/// machine.
inline std::chrono::nanoseconds longest_start_now() {
  std::chrono::nanoseconds longest{0};
  for (int i = 0; i < 10; ++i) {
    const auto start = std::chrono::steady_clock::now();
    static_cast<void>(run_command("/bin/true", {}));
    longest = std::max<std::chrono::nanoseconds>(longest, std::chrono::steady_clock::now() - start);
  }
  return longest;
}

/// What a machine that is as busy as this one is now may add to a promised time: as long as two hundred of those
/// starts.
inline std::chrono::milliseconds busy_allowance() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(200 * longest_start_now());
}

}  // namespace nustream::tests
