// Commands that are killed at a random moment, again and again.
#pragma once

#include <unistd.h>

#include <csignal>
#include <random>
#include <string>
#include <vector>

#include "command.h"

namespace nustream::tests {

/// The exit code of a command that was ended by SIGKILL.
inline constexpr int killed = 128 + SIGKILL;

/// Starts `nustream` with these arguments three times, and kills it each time after 2 to 32 ms. Returns how often it
/// was killed before it had ended by itself.
inline int kill_three_times(const std::vector<std::string>& arguments, std::mt19937_64& bits) {
  int kills = 0;
  for (int life = 0; life < 3; ++life) {
    Command command(NUSTREAM_COMMAND, arguments);
    ::usleep(static_cast<useconds_t>(2000 + bits() % 30000));
    command.signal(SIGKILL);
    kills += command.wait().code == killed ? 1 : 0;
  }
  return kills;
}

}  // namespace nustream::tests
