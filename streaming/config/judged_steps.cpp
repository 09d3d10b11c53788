// Computes the first and the last step that a verdict looks at, from the same settings as the intervals themselves.
#include "config/judged_steps.h"

#include <algorithm>

#include "nustream/inference/path_status.h"
#include "nustream/inference/runs_status.h"

namespace nustream::config {

std::optional<JudgedSteps> judged_steps(const Config& config) {
  const Intervals& intervals = config.intervals;
  const std::uint64_t steps = config.estimate.steps;
  if (intervals.kind == Intervals::Kind::runs) {
    // The value of a run is the mean of its last `averaged` steps. A run is looked at from its middle at the latest,
    // so that at least half of its path is judged.
    return JudgedSteps{std::min(steps / 2, steps - intervals.averaged), steps, inference::stretches_of_a_run};
  }
  if (intervals.kind != Intervals::Kind::checkpoints) return std::nullopt;
  // Checkpoints are `distance` steps apart, the last at burn_in + count·distance. The first value is made of the last
  // `averaged` steps before its checkpoint.
  const std::uint64_t distance = (steps - intervals.burn_in) / intervals.count;
  return JudgedSteps{intervals.burn_in + distance - intervals.averaged,
                     intervals.burn_in + intervals.count * distance, inference::enough_batches};
}

}  // namespace nustream::config
