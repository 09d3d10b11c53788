// Noise for a lane, slice by slice: blocks of correlated noise are drawn and rounded to the grid as the lane needs
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "config/mechanism.h"
#include "journal/state_record.h"
#include "nustream/noise/grid.h"

namespace nustream::engine {

/// The noise of one lane in one epoch, in step order, each step once. It is asked once for a slice of steps, and not
/// for each record, so the virtual call costs little. Production has two implementations, NoiseFeed and NoiseAhead.
/// Tests use others, for example to give two neighbouring runs coupled noise.
class NoiseSupply {
 public:
  virtual ~NoiseSupply() = default;
  /// The noise of the next steps, at most `steps_max`, which count as taken. There is one entry for each stage, all
  /// of the same steps. The entries have no steps where the noise is not ready yet. Valid until the next call.
  [[nodiscard]] virtual std::span<const noise::GridNoise> take(std::size_t steps_max) = 0;
  /// The checkpoints for a state that is saved now, so that a resume takes the next step.
  [[nodiscard]] virtual journal::NoiseCheckpoints checkpoints() const = 0;
};

/// The number of steps in a slice.
[[nodiscard]] inline std::size_t steps_in(std::span<const noise::GridNoise> noise) {
  return noise.front().units.size() / noise.front().dimension;
}

/// False where the noise of some stage was begun anew so often that its state has no room for another segment. The
/// lane can then only go on in a new epoch.
[[nodiscard]] bool can_be_resumed(const journal::NoiseCheckpoints& checkpoints, StepIndex next_step);

/// Whether an epoch that has taken `steps` cannot take another one: its correlation ends there, or no resume is
/// possible (can_be_resumed()).
[[nodiscard]] bool noise_is_used_up(const config::Mechanism& mechanism, const journal::NoiseCheckpoints& checkpoints,
                                    StepCount steps);

/// What the noise of a new epoch of a lane begins with, under a key of its own that follows from `keys`. A private
/// run draws a fresh key, of which no copy is left but in what is returned.
[[nodiscard]] journal::NoiseCheckpoints noise_of_new_epoch(const secrets::Keyring& keys, const std::string& stream,
                                                           LaneId lane, EpochId epoch,
                                                           const config::Mechanism& mechanism);

/// Owns a NoiseSource for each stage. To be used from one thread at a time.
class NoiseFeed final : public NoiseSupply {
 public:
  /// Goes on at `next_step` from `checkpoints`, one for each stage, which cover that step. Keys are kept in memory
  /// from `secrets`. Every stage uses `healing`. `end` is one past the last step, where that is known: no block goes
  /// beyond its stride (NoiseSource). Throws Failure(data) where the noise was begun anew too often for another
  /// segment.
  NoiseFeed(const config::Mechanism& mechanism, const journal::NoiseCheckpoints& checkpoints, StepIndex next_step,
            std::pmr::memory_resource* secrets, const noise::Healing& healing, std::optional<StepCount> end = {});
  NoiseFeed(const NoiseFeed&) = delete;
  NoiseFeed& operator=(const NoiseFeed&) = delete;

  /// The noise of the next steps, which count as taken: at most `steps_max` of them, and at most those that are left
  /// of the shortest stage's block. Valid until the next call.
  [[nodiscard]] std::span<const noise::GridNoise> take(std::size_t steps_max) override;

  /// The checkpoints for a state that is saved now, so that a resume takes the feed's next step.
  [[nodiscard]] journal::NoiseCheckpoints checkpoints() const override;
  /// The checkpoints for a state whose next step is `step`: a step of the slice that was taken last, or the step
  /// after that slice.
  [[nodiscard]] journal::NoiseCheckpoints checkpoints_at(StepIndex step) const;
  /// Checkpoints of the largest size that they can have, with keys of zeros. Only their size matters.
  [[nodiscard]] journal::NoiseCheckpoints largest_checkpoints() const;

 private:
  /// One stage's source and its block in use.
  struct Stage {
    noise::NoiseSource source;
    noise::Grid grid;
    std::size_t dimension;
    std::uint64_t end = 0;  ///< one past the block's last step; 0 before the first block is drawn
    std::uint64_t first = 0;
    std::vector<std::int64_t> units{};

    void next_block(std::uint64_t next_step);
  };

  std::vector<Stage> stages_;
  std::vector<noise::GridNoise> slices_;
  std::uint64_t next_step_;
};

}  // namespace nustream::engine
