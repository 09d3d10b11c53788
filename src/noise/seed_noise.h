// The seed noise w from the keys of its blocks; private to the noise room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "generator.h"
#include "key_ring.h"
#include "keystream.h"
#include "nustream/noise/gaussian.h"

namespace nustream::noise {

/// w of step t and coordinate j is sample n = (t − block start)·width + j of its block: a function of (cipher key of
/// the block, n) alone, whatever range it is asked for with. The words of samples in chunks of gaussian_chunk.
class KeyedSeedNoise final : public SeedNoise {
 public:
  /// `keys` must outlive this. `width`: samples a step.
  KeyedSeedNoise(KeyRing& keys, std::size_t width, std::size_t block_steps,
                 InstructionSet set = fastest_instruction_set());

  /// Ends the process if a block's key is no longer held.
  void fill(StepIndex first, std::size_t steps, std::span<double> out) override;

 private:
  void fill_in_block(std::uint64_t block, std::uint64_t sample, std::span<double> out);
  void fill_chunks(std::uint64_t sample, std::span<double> out);
  void fill_part(std::uint64_t sample, std::span<double> out);

  KeyRing& keys_;
  std::size_t width_;
  std::size_t block_steps_;
  InstructionSet set_;
  Keystream keystream_;
  std::uint64_t keyed_block_ = UINT64_MAX;
  std::vector<std::uint64_t> words_;
};

/// Sample `n` of the block with `cipher_key`, computed alone: the twin of fill().
[[nodiscard]] double seed_sample(const KeyBytes& cipher_key, std::uint64_t n);

}  // namespace nustream::noise
