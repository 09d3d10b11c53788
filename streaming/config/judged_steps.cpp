#include "config/judged_steps.h"

#include <algorithm>

#include "nustream/inference/path_status.h"
#include "nustream/inference/runs_status.h"

namespace nustream::config {

std::optional<JudgedSteps> judged_steps(const Config& config) {
  const Intervals& intervals = config.intervals;
  const std::uint64_t steps = config.estimate.steps;
  if (intervals.kind == Intervals::Kind::runs) {
    return JudgedSteps{std::min(steps / 2, steps - intervals.averaged), steps, inference::stretches_of_a_run};
  }
  if (intervals.kind != Intervals::Kind::checkpoints) return std::nullopt;
  const std::uint64_t distance = (steps - intervals.burn_in) / intervals.count;
  return JudgedSteps{intervals.burn_in + distance - intervals.averaged,
                     intervals.burn_in + intervals.count * distance, inference::enough_batches};
}

}  // namespace nustream::config
