// Computes the seed noise w from the keys of its blocks; private to the noise room.
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

/// The w of step t and coordinate j is sample n = (t − block start)·width + j of its block. It is a function of n and
/// the cipher key of the step alone, whatever range it is asked for with. Samples come from the words of whole chunks
/// of gaussian_chunk.
class KeyedSeedNoise final : public SeedNoise {
 public:
  /// `keys` must outlive this object. `width` is the number of samples of a step.
  KeyedSeedNoise(KeyRing& keys, std::size_t width, InstructionSet set = fastest_instruction_set());

  /// Ends the process if the key of a step is no longer held: drawing that step's noise again would be unsafe.
  void fill(StepIndex first, std::size_t steps, std::span<double> out) override;

 private:
  void use_key(std::uint64_t part, std::uint64_t step);
  void fill_in_block(std::uint64_t sample, std::span<double> out);
  void fill_chunks(std::uint64_t sample, std::span<double> out);
  void fill_part(std::uint64_t sample, std::span<double> out);

  KeyRing& keys_;
  std::size_t width_;
  InstructionSet set_;
  Keystream keystream_;
  std::uint64_t keyed_part_ = UINT64_MAX;
  std::vector<std::uint64_t> words_;
};

/// Sample `n` of the block with `cipher_key`, computed alone: the plain twin of fill().
[[nodiscard]] double seed_sample(const KeyBytes& cipher_key, std::uint64_t n);

}  // namespace nustream::noise
