// The keys that a lane's noise has under an insecure seed, block by block, to look for in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noise/key_ring.h"
#include "own_memory.h"
#include "secrets/keyring.h"
#include "secrets/locked_memory.h"

namespace nustream::tests {

inline std::string chain_name(std::uint64_t block) {
  return "chain key of block " + std::to_string(block);
}

/// Whether the search finds the key of this name: proof that it would find a key that has stayed.
inline bool finds(const KeysInMemory& keys, const std::string& name) {
  return std::ranges::any_of(keys.found(), [&](const std::string& one) { return one.starts_with(name + " in "); });
}

/// The keys of the lane's epoch 0, from block `first` up to `last`, derived in memory of their own and wiped there.
/// Where block 0 is among them, the epoch's key is too.
inline KeysInMemory keys_of_blocks(std::uint64_t seed, const std::string& stream, LaneId lane, std::uint64_t first,
                                   std::uint64_t last) {
  KeysInMemory keys;
  secrets::LockedMemory locked;
  noise::KeyBytes epoch_key = secrets::Keyring::insecure(seed).epoch_key(stream);
  if (first == 0) keys.add("epoch key", epoch_key);
  noise::Checkpoint checkpoint = noise::first_checkpoint(epoch_key, {lane, EpochId{0}, 0});
  noise::wipe(epoch_key);
  noise::KeyRing ring(checkpoint.segments, 1, &locked);
  for (noise::Segment& segment : checkpoint.segments) noise::wipe(segment.chain_key);
  for (std::uint64_t block = 0; block < last; ++block) {
    if (block >= first) keys.add("cipher key of block " + std::to_string(block), ring.cipher_key(block));
    static_cast<void>(ring.cipher_key(block));
    if (block >= first) keys.add(chain_name(block), ring.chain_key(block));
  }
  return keys;
}

/// Goes as deep into the stack as any call does and writes over what finished calls left there, as a longer run would
/// in its course.
[[gnu::noinline]] inline void write_over_the_stack() {
  volatile std::uint8_t frames[256 * 1024];
  for (volatile std::uint8_t& byte : frames) byte = 0;
}

/// Expects that none of the keys is in memory.
inline void expect_none(const KeysInMemory& keys, const char* when) {
  write_over_the_stack();
  EXPECT_EQ(keys.found(), std::vector<std::string>{}) << when;
}

}  // namespace nustream::tests
