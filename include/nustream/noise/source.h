// Generates the correlated noise z of one stage of one lane in one epoch, block by block, from the bytes of a key.
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

/// A key of 256 bits. Every copy of it is a secret, and the code that holds a copy wipes it (wipe()).
using KeyBytes = std::array<std::uint8_t, 32>;

/// Overwrites memory in a way that the compiler does not remove.
void wipe(std::span<std::uint8_t> memory) noexcept;

/// Which noise of a stream a key is for. Two different (lane, epoch, stage) never share a key, even if the epoch keys
/// were equal.
struct StageId {
  LaneId lane;
  EpochId epoch;
  std::uint32_t stage;
};

/// A stretch of steps whose keys all follow from one key. The next stretch mixes fresh random bytes in, so that the
/// key of this stretch opens nothing after it (privacy promise: healing).
struct Segment {
  StepIndex first{0};    ///< first step of the stretch; for the oldest one kept, the first step that its key still
                         ///< opens
  KeyBytes chain_key{};  ///< key of the block that holds `first`, from `first` on; ratcheting gives later blocks
};

/// What a committed state keeps of the noise. It is enough to generate the noise of the state's next step again, and
/// opens no step before those whose noise is still read (privacy promise: forward secrecy).
struct Checkpoint {
  /// The segments in ascending order, at most segments_max. A generator that remembers values needs one segment; one
  /// that reads old seed noise again needs all those within its reach.
  std::vector<Segment> segments;
  std::vector<double> memory;  ///< what the generator remembers at the first step of the only segment
};

/// The most segments that one reach may have; more are refused, because a state has to stay small.
inline constexpr std::size_t segments_max = 4096;

/// The checkpoint of step 0 of a fresh epoch, whose chain key is HKDF(epoch key; lane, epoch, stage).
[[nodiscard]] Checkpoint first_checkpoint(const KeyBytes& epoch_key, const StageId& stage);

/// How a chain of keys comes to depend on bytes that no old copy of it holds.
struct Healing {
  /// Fills all of its argument with fresh random bytes, never the same twice; it may throw. If it is empty, no
  /// segment ever ends, and equal checkpoints give equal noise, as an insecure seed or a test wants it.
  std::function<void(std::span<std::uint8_t>)> fresh{};
  /// Whether the checkpoint was kept by somebody, who may have gone on from it as well. A new segment then begins at
  /// the next step, so that the two runs have different noise. False for a fresh epoch, whose first segment is that
  /// of the epoch key.
  bool resumed = false;
};

/// How z is computed; `automatic` chooses by the correlation.
enum class GeneratorKind { automatic, direct, fft, recurrent, tree, dense };

/// One block of z in units of the seed noise's standard deviation, row-major steps × dimension. It stays valid until
/// the next call of next().
struct CorrelatedBlock {
  StepIndex first;
  std::size_t steps;
  std::span<const double> z;
};

/// The number of steps in a block: a power of two that depends on the dimension alone (docs/formats/noise.md). Throws
/// InvalidParameter for dimension 0.
[[nodiscard]] std::size_t steps_per_block(std::size_t dimension);

/// Generates z = B w in blocks, which begin at absolute multiples of steps_per_block(dimension), whatever was
/// restarted.
///
/// Without healing the same checkpoint always gives the same z. With healing a step has the noise of the segment that
/// it lies in. A segment ends at the next border of a block or at a restart; for a generator with a reach it lasts at
/// least 1/1024 of the reach. z = B w holds across all segments. Objects are not thread-safe, but may live on any
/// thread.
class NoiseSource {
 public:
  /// Generates from `checkpoint` on. The first block is the one that holds `next_step`, or the part of it from
  /// `next_step` on where a segment begins there. Keys are kept in memory from `secrets`; the service passes locked
  /// memory.
  ///
  /// `end` promises that no step from there on will be asked for, so that the last block stops at the next multiple
  /// of 8. The steps before it have the same noise, to the bit, as without `end`.
  ///
  /// Throws Unsupported where `kind` cannot generate this correlation (for exact ν without a horizon, use rational),
  /// and where another segment would be one more than segments_max. Throws InvalidParameter where the checkpoint does
  /// not belong to this correlation, kind and step.
  NoiseSource(const Correlation& correlation, GeneratorKind kind, std::size_t dimension, const Checkpoint& checkpoint,
              StepIndex next_step, std::pmr::memory_resource* secrets = std::pmr::get_default_resource(),
              std::optional<StepCount> end = {}, Healing healing = {});
  ~NoiseSource();
  NoiseSource(NoiseSource&&) noexcept;
  NoiseSource& operator=(NoiseSource&&) noexcept;

  /// The block that follows. After the first call it allocates nothing except for keys. It throws what
  /// `healing.fresh` throws, and has then given no block; it throws Unsupported beyond the correlation's horizon.
  [[nodiscard]] CorrelatedBlock next();

  /// The checkpoint that a state has to keep if it is committed with `next_step` as its next step. `next_step` must
  /// not lie before the first step of the block given last but one, nor beyond the end of the block given last. The
  /// caller wipes the checkpoint.
  [[nodiscard]] Checkpoint checkpoint(StepIndex next_step) const;

  /// The most segments that a checkpoint of this source can have: at most segments_max, and 1 where the generator has
  /// no reach.
  [[nodiscard]] std::size_t most_segments() const;

  /// The kind in use: the one that was asked for, or the one that `automatic` chose.
  [[nodiscard]] GeneratorKind kind() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nustream::noise
