// Where a run's noise comes from: a slice of grid integers for the lane's next steps, of every stage.
#pragma once

#include <cstddef>
#include <span>

#include "journal/state_record.h"
#include "nustream/noise/grid.h"

namespace nustream::engine {

/// The noise of one lane in one epoch, in step order, each step once. One virtual call a slice of steps, never one a
/// record. Production has two: NoiseFeed and NoiseAhead; tests put others in their place to couple neighbours.
class NoiseSupply {
 public:
  virtual ~NoiseSupply() = default;
  /// The noise of the next steps, at most `steps_max`, which count as taken: one entry a stage, each of the same
  /// steps; of no step where it is not ready yet. Valid until the next call.
  [[nodiscard]] virtual std::span<const noise::GridNoise> take(std::size_t steps_max) = 0;
  /// What a state has to keep whose next step is the next one to be taken.
  [[nodiscard]] virtual journal::NoiseCheckpoints checkpoints() const = 0;
};

/// Steps of a slice.
[[nodiscard]] inline std::size_t steps_in(std::span<const noise::GridNoise> noise) {
  return noise.front().units.size() / noise.front().dimension;
}

}  // namespace nustream::engine
