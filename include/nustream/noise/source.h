// The correlated noise z of one stage of one lane in one epoch, block by block, from key bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
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

/// A stretch of steps whose keys all follow from one key. The next stretch mixes fresh random bytes in, so that who
/// holds this key opens nothing behind the stretch (privacy promise: healing).
struct Segment {
  StepIndex first{0};    ///< its first step; of the oldest one that is kept, the first that its key still opens
  KeyBytes chain_key{};  ///< of the block that holds `first`, from `first` on; later blocks follow by ratcheting
};

/// What a committed state keeps of the noise: enough to generate the noise of its next step again, and nothing that
/// opens steps before those that are still read (privacy promise: forward secrecy).
struct Checkpoint {
  /// Ascending. One, for a generator that remembers values; for one that reads old seed noise again, all within its
  /// reach. At most segments_max.
  std::vector<Segment> segments;
  std::vector<double> memory;  ///< what the generator remembers at the first step of the only segment
};

/// More of them in one reach are refused: a state has to stay small.
inline constexpr std::size_t segments_max = 4096;

/// Checkpoint of step 0 of a fresh epoch: chain key = HKDF(epoch key; lane, epoch, stage).
[[nodiscard]] Checkpoint first_checkpoint(const KeyBytes& epoch_key, const Stage& stage);

/// How a chain of keys comes to hold what no old copy of it does.
struct Healing {
  /// Fills all of its argument with fresh random bytes, never the same twice; may throw. Empty: no segment ever
  /// ends, and equal checkpoints give equal noise (an insecure seed, a test).
  std::function<void(std::span<std::uint8_t>)> fresh{};
  /// The checkpoint was kept by somebody, who may have gone on from it as well: a new segment begins at the next
  /// step. False for a fresh epoch, whose first segment is that of the epoch key.
  bool resumed = false;
};

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

/// Generates z = B w. Blocks begin at absolute multiples of steps_per_block(dimension), whatever was restarted.
/// Without healing the same checkpoint always yields the same z; with it, a step has the noise of the segment that it
/// lies in, which ends at the next border of a block (of a generator with a reach, once it has 1/1024 of that) or
/// restart, and z = B w holds across all of them. Not thread-safe; may live on any thread.
class NoiseSource {
 public:
  /// Generates from `checkpoint` on and gives the block that holds `next_step` first, or what of it begins with
  /// `next_step` where that begins a segment. Keys are kept in memory from `secrets` (the service passes locked
  /// memory). Throws Unsupported where `kind` cannot generate this correlation (exact ν without a horizon: use
  /// rational), or another segment would be one more than segments_max; InvalidParameter where the checkpoint does
  /// not belong to it. `end`: no step from there on will be asked for, so that the last block stops at the next
  /// multiple of 8; the steps before have the noise that they would have had, to the bit.
  NoiseSource(const Correlation& correlation, GeneratorKind kind, std::size_t dimension, const Checkpoint& checkpoint,
              StepIndex next_step, std::pmr::memory_resource* secrets = std::pmr::get_default_resource(),
              std::optional<StepCount> end = {}, Healing healing = {});
  ~NoiseSource();
  NoiseSource(NoiseSource&&) noexcept;
  NoiseSource& operator=(NoiseSource&&) noexcept;

  /// The block that follows. No allocation after the first call, but for keys. Throws what `healing.fresh` throws,
  /// and then gave nothing.
  [[nodiscard]] CorrelatedBlock next();

  /// What a state committed with `next_step` as its next step has to keep. `next_step` is at or after the
  /// first step of the block given last but one, and not beyond the end of the block given last. The caller wipes it.
  [[nodiscard]] Checkpoint checkpoint(StepIndex next_step) const;

  /// As many segments as a checkpoint can have: at most segments_max, and 1 where the generator has no reach.
  [[nodiscard]] std::size_t most_segments() const;

  /// The kind in use: the one asked for, or the one that `automatic` chose.
  [[nodiscard]] GeneratorKind kind() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nustream::noise
