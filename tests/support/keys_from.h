// Keys of a key file whose bytes count up, for tests that need known bytes.
#pragma once

#include <cstdint>
#include <numeric>

#include "secrets/keyring.h"

namespace nustream::tests {

/// The keys of the bytes first, first + 1, ….
inline secrets::Keyring keys_from(std::uint8_t first) {
  noise::KeyBytes master{};
  std::iota(master.begin(), master.end(), first);
  return secrets::Keyring::from_master(master);
}

}  // namespace nustream::tests
