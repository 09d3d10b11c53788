// Lets the clock of a program jump while the program runs, by Debian's package faketime.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "command.h"
#include "temporary_folder.h"

namespace nustream::tests {

inline constexpr const char* clock_library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

/// The environment of a program whose clock is off by what the file `clock` says, which may change at any time.
inline std::vector<std::string> with_clock(const std::string& clock) {
  return {std::string("LD_PRELOAD=") + clock_library, "FAKETIME_TIMESTAMP_FILE=" + clock, "FAKETIME_NO_CACHE=1",
          "FAKETIME_DONT_FAKE_MONOTONIC=1"};
}

/// Whether a program's clock can be set here. Where it cannot, a test would count jumps that no program saw.
inline bool clocks_can_jump() {
  const TemporaryFolder folder;
  const std::string clock = folder.write("clock", "+1d\n");
  const CommandResult shown = run_command("/bin/date", {"+%s"}, {}, with_clock(clock));
  if (shown.code != 0 || shown.out.empty()) return false;
  constexpr std::int64_t half_a_day = 43'200;
  return std::stoll(shown.out) > static_cast<std::int64_t>(std::time(nullptr)) + half_a_day;
}

}  // namespace nustream::tests
