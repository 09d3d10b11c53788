// The correlated noise z of one stage of one lane in one epoch, block by block, from key bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"

namespace nustream::noise {

/// 256 bits. Copies of it are secrets; whoever holds one wipes it (wipe()).
using KeyBytes = std::array<std::uint8_t, 32>;

/// Overwrites memory in a way that the compiler does not remove.
void wipe(std::span<std::uint8_t> memory) noexcept;

/// Which noise of a stream a key is for: different (lane, epoch, stage) never share a key even where the
/// epoch key were the same.
struct Stage {
  LaneId lane;
  EpochId epoch;
  std::uint32_t stage;
};

/// What a committed state keeps of the noise: enough to generate the block of the next step again, and
/// nothing that opens an earlier block (privacy promise: forward secrecy).
struct Checkpoint {
  std::uint64_t block;         ///< number of the oldest block that is still needed
  KeyBytes chain_key;          ///< of that block; the later ones follow by ratcheting
  std::vector<double> memory;  ///< what the generator remembers at the start of that block
};

/// Checkpoint of block 0 of a fresh epoch: chain_key = HKDF(epoch key; lane, epoch, stage).
[[nodiscard]] Checkpoint first_checkpoint(const KeyBytes& epoch_key, const Stage& stage);

enum class GeneratorKind { automatic, direct, fft, recurrent, tree, dense };

/// One block of z in units of the seed noise's standard deviation, row-major steps × dimension. Valid
/// until the next call of next().
struct CorrelatedBlock {
  StepIndex first;
  std::size_t steps;
  std::span<const double> z;
};

/// Steps in a block: a function of the dimension alone, a power of two (docs/formats/noise.md).
[[nodiscard]] std::size_t steps_per_block(std::size_t dimension);

/// Generates z = B w. Blocks begin at absolute multiples of steps_per_block(dimension), whatever was
/// restarted, so the same checkpoint always yields the same z. Not thread-safe; may live on any thread.
class NoiseSource {
 public:
  /// Generates from `checkpoint` on and gives the block that holds `next_step` first. Keys are kept in
  /// memory from `secrets` (the service passes locked memory). Throws Unsupported where `kind` cannot
  /// generate this correlation (exact ν without a horizon: use rational), InvalidParameter where the
  /// checkpoint does not belong to it. `end`: no step from there on will be asked for, so that the last
  /// block stops at the next multiple of 8; the steps before have the noise that they would have had, to the bit.
  NoiseSource(const Correlation& correlation, GeneratorKind kind, std::size_t dimension, const Checkpoint& checkpoint,
              StepIndex next_step, std::pmr::memory_resource* secrets = std::pmr::get_default_resource(),
              std::optional<StepCount> end = {});
  ~NoiseSource();
  NoiseSource(NoiseSource&&) noexcept;
  NoiseSource& operator=(NoiseSource&&) noexcept;

  /// The block that follows. No allocation after the first call.
  [[nodiscard]] CorrelatedBlock next();

  /// What a state committed with `next_step` as its next step has to keep. `next_step` is at or after the
  /// first step of the block given last but one, and not beyond the end of the block given last.
  [[nodiscard]] Checkpoint checkpoint(StepIndex next_step) const;

  /// The kind in use: the one asked for, or the one that `automatic` chose.
  [[nodiscard]] GeneratorKind kind() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nustream::noise
