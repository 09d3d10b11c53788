// Where a run's noise comes from: for each stage, a slice of grid integers for the lane's next steps.
#pragma once

#include <cstddef>
#include <span>

#include "journal/state_record.h"
#include "nustream/noise/grid.h"

namespace nustream::engine {

/// The noise of one lane in one epoch, in step order, each step once. It is asked once for a slice of steps, never
/// once a record, so that a virtual call costs little. Production has two implementations, NoiseFeed and NoiseAhead.
/// Tests use others, for example to give two neighbouring runs coupled noise.
class NoiseSupply {
 public:
  virtual ~NoiseSupply() = default;
  /// The noise of the next steps, at most `steps_max`, which count as taken. There is one entry for each stage, all
  /// of the same steps; they are of no step where the noise is not ready yet. Valid until the next call.
  [[nodiscard]] virtual std::span<const noise::GridNoise> take(std::size_t steps_max) = 0;
  /// What a state has to keep whose next step is the next one to be taken.
  [[nodiscard]] virtual journal::NoiseCheckpoints checkpoints() const = 0;
};

/// How many steps a slice is of.
[[nodiscard]] inline std::size_t steps_in(std::span<const noise::GridNoise> noise) {
  return noise.front().units.size() / noise.front().dimension;
}

}  // namespace nustream::engine
