// Noise for a lane, slice by slice: correlated blocks rounded to the grid as the lane needs them.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "config/mechanism.h"
#include "engine/noise_supply.h"

namespace nustream::engine {

/// False where some stage's noise was begun anew so often that its state has no room for another segment: the lane
/// goes on in a new epoch alone.
[[nodiscard]] bool can_be_resumed(const journal::NoiseCheckpoints& checkpoints, StepIndex next_step);

/// Owns a NoiseSource for each stage; one thread at a time.
class NoiseFeed final : public NoiseSupply {
 public:
  /// Goes on at `next_step` from checkpoints that cover it, one a stage. Keys live in memory from `secrets`.
  /// `healing` is each stage's. `end`: of a stream whose last step is known, one past it: no block goes beyond its
  /// stride (NoiseSource). Failure(data) where the noise within reach was begun anew too often for one more.
  NoiseFeed(const config::Mechanism& mechanism, const journal::NoiseCheckpoints& checkpoints, StepIndex next_step,
            std::pmr::memory_resource* secrets, const noise::Healing& healing, std::optional<StepCount> end = {});
  NoiseFeed(const NoiseFeed&) = delete;
  NoiseFeed& operator=(const NoiseFeed&) = delete;

  /// The noise of the next min(steps_max, what is left of every stage's block) steps, which count as taken. Valid
  /// until the next call.
  [[nodiscard]] std::span<const noise::GridNoise> take(std::size_t steps_max) override;

  /// What a state whose next step is the feed's next one has to keep.
  [[nodiscard]] journal::NoiseCheckpoints checkpoints() const override;
  /// What a state has to keep whose next step is `step`, which is of the slice that was taken last, or at its end.
  [[nodiscard]] journal::NoiseCheckpoints checkpoints_at(StepIndex step) const;
  /// The most that they can be: of this size, and nobody's.
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
