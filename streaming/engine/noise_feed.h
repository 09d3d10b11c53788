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

/// Owns a NoiseSource for each stage; one thread at a time.
class NoiseFeed final : public NoiseSupply {
 public:
  /// Goes on at `next_step` from checkpoints that cover it, one a stage. Keys live in memory from `secrets`. `end`:
  /// of a stream whose last step is known, one past it: no block goes beyond its stride (NoiseSource).
  NoiseFeed(const config::Mechanism& mechanism, const journal::NoiseCheckpoints& checkpoints, StepIndex next_step,
            std::pmr::memory_resource* secrets, std::optional<StepCount> end = {});
  NoiseFeed(const NoiseFeed&) = delete;
  NoiseFeed& operator=(const NoiseFeed&) = delete;

  /// The noise of the next min(steps_max, what is left of every stage's block) steps, which count as taken. Valid
  /// until the next call.
  [[nodiscard]] std::span<const noise::GridNoise> take(std::size_t steps_max) override;

  /// What a state whose next step is the feed's next one has to keep.
  [[nodiscard]] journal::NoiseCheckpoints checkpoints() const override;

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
