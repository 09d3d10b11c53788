// Keys that a random source under a test's control handed out (key_source.cpp).
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "drawn_noise.h"
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

}  // namespace nustream::tests
