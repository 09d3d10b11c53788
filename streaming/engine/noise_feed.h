// Noise for a lane, slice by slice: correlated blocks rounded to the grid as the lane needs them.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "config/mechanism.h"

#include "engine/noise_supply.h"

namespace nustream::engine {

/// Owns a NoiseSource; one thread at a time.
class NoiseFeed final : public NoiseSupply {
 public:
  /// Goes on at `next_step` from a checkpoint that covers it. Keys live in memory from `secrets`.
  NoiseFeed(const config::Mechanism& mechanism, const noise::Checkpoint& checkpoint, StepIndex next_step,
            std::pmr::memory_resource* secrets);
  NoiseFeed(const NoiseFeed&) = delete;
  NoiseFeed& operator=(const NoiseFeed&) = delete;

  /// The noise of the next min(steps_max, what is left of the block) steps, which count as taken. Valid until
  /// the next call.
  [[nodiscard]] noise::GridNoise take(std::size_t steps_max) override;

  /// What a state whose next step is the feed's next one has to keep.
  [[nodiscard]] noise::Checkpoint checkpoint() const override;

 private:
  void next_block();

  noise::NoiseSource source_;
  bool drawn_ = false;
  noise::Grid grid_;
  std::size_t dimension_;
  std::uint64_t next_step_;
  std::uint64_t block_first_ = 0;
  std::size_t block_steps_ = 0;
  std::vector<std::int64_t> units_;
};

}  // namespace nustream::engine
