// The keys of the blocks whose seed noise may still be read; private to the noise room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "hkdf.h"
#include "nustream/noise/source.h"

namespace nustream::noise {

/// Ratchets the chain key of a stage forward, one HKDF expansion a block, and forgets behind:
///
///     chain_{n+1} ‖ cipher_n = HKDF-Expand(chain_n, "nustream noise block v1" ‖ n, 64 bytes)
///
/// (docs/formats/noise.md). No step back is possible, so a block whose keys are forgotten stays closed. Keys live
/// in memory of `secrets` and are wiped when forgotten, moved or destroyed.
class KeyRing {
 public:
  KeyRing(std::uint64_t first_block, const KeyBytes& chain_key, std::pmr::memory_resource* secrets);
  KeyRing(const KeyRing&) = delete;
  KeyRing& operator=(const KeyRing&) = delete;
  ~KeyRing();

  /// The oldest block that is held.
  [[nodiscard]] std::uint64_t oldest() const noexcept { return oldest_; }
  /// Of a block from oldest() to one past the last that cipher_key() was asked for.
  [[nodiscard]] const KeyBytes& chain_key(std::uint64_t block) const;
  /// Of a block from oldest() on; ratchets forward as far as needed.
  [[nodiscard]] const KeyBytes& cipher_key(std::uint64_t block);
  /// Wipes the keys of all blocks before `block`, which must be held.
  void forget_before(std::uint64_t block);

 private:
  struct Keys {
    KeyBytes chain;
    KeyBytes cipher;
  };

  [[nodiscard]] Keys& slot(std::uint64_t block) { return slots_[block % slots_.size()]; }
  void ratchet();
  void grow();

  Hkdf hkdf_;
  std::pmr::vector<Keys> slots_;  // block n in slot n mod size
  std::uint64_t oldest_;
  std::uint64_t newest_;  // its cipher key is not derived yet
};

}  // namespace nustream::noise
