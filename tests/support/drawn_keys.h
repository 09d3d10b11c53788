// Keys that a random source under a test's control handed out (key_source.cpp), and which of them a state began with.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "journal/state_record.h"
#include "secrets/hex.h"
#include "temporary_folder.h"

namespace nustream::tests {

/// The environment of a run whose every getrandom is written to `file`. Runs with another `number` get other bytes.
inline std::vector<std::string> with_own_source(const std::string& file, int number = 0) {
  return {"LD_PRELOAD=" NUSTREAM_KEY_SOURCE, "ASAN_OPTIONS=verify_asan_link_order=0", "NUSTREAM_HANDED_OUT=" + file,
          "NUSTREAM_SOURCE_START=" + std::to_string(number)};
}

/// Every 256 bits that were handed out at once.
inline std::vector<noise::KeyBytes> keys_handed_out(const std::string& file) {
  std::vector<noise::KeyBytes> keys;
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line);) {
    noise::KeyBytes key{};
    if (secrets::from_hex(line, key)) keys.push_back(key);
  }
  return keys;
}

/// The 256 bits that the noise of the state, which is still at step 0, begins with in its own lane and epoch. They
/// are exactly one of those that were drawn, and all stages share them. Empty where they are none of those.
inline std::optional<noise::KeyBytes> drawn_key_of(const journal::State& state,
                                                   const std::vector<noise::KeyBytes>& drawn) {
  std::optional<noise::KeyBytes> found;
  for (const noise::KeyBytes& key : drawn) {
    bool is_it = true;
    for (std::size_t stage = 0; stage < state.record.noise.stages.size(); ++stage) {
      const noise::Checkpoint& kept = state.record.noise.stages[stage];
      const noise::Checkpoint first = noise::first_checkpoint(
          key, {state.identity.lane, state.identity.epoch, static_cast<std::uint32_t>(stage)});
      is_it = is_it && kept.segments.size() == 1 && kept.segments.front().first == StepIndex{0} &&
              kept.segments.front().chain_key == first.segments.front().chain_key;
    }
    if (!is_it) continue;
    EXPECT_FALSE(found) << "the same bits were handed out twice";
    found = key;
  }
  return found;
}

}  // namespace nustream::tests
