#include "check/start_clips.h"

#include <limits>
#include <span>
#include <vector>

#include "config/moments.h"
#include "nustream/lane/lane.h"
#include "nustream/moments/batch_sums.h"

namespace nustream::check {
namespace {

/// Does the same for running sums, whose residuals are taken about the start.
std::uint64_t clipped_residuals(const config::Config& config, const config::Mechanism& mechanism,
                                const record::RowSlice& rows) {
  const moments::Settings settings = config::moments_settings(config, mechanism);
  const moments::Design& design = settings.mechanism.design;
  moments::BatchSums sums(design, moments::Spacings(moments::blocks(design).size(), moments::exact_spacing));
  sums.aim(settings.stages.front().radii, settings.start);
  sums.add(rows);
  return sums.clipped();
}

}  // namespace

std::uint64_t clipped_at_start(const config::Config& config, const config::Mechanism& mechanism,
                               const record::RowSlice& rows) {
  if (rows.count == 0) return 0;
  if (config.moments) return clipped_residuals(config, mechanism, rows);
  // One step over all rows, by the lane itself and with noise that is zero: whatever the lane clips is counted as the
  // run will count it. What does not matter to the first gradients is left out.
  lane::Settings settings = config.descent;
  settings.minibatch = rows.count;
  settings.release_every = std::numeric_limits<std::uint64_t>::max();
  settings.averaging = {};
  settings.batching.reset();
  settings.moments.reset();
  settings.counts_clipped = false;
  settings.users.reset();  // counts single records, although a run clips the sum of each user's
  const std::vector<lane::Stage> stages = lane::stages(settings);
  std::vector<std::vector<std::int64_t>> nothing;
  nothing.reserve(stages.size());
  std::vector<noise::GridNoise> noise;
  for (const lane::Stage& stage : stages) {
    nothing.emplace_back(stage.dimension, 0);
    noise.push_back({StepIndex{0}, stage.dimension, nothing.back()});
  }
  // Second moments and the private count are the last stages; they are left out.
  lane::Lane lane(settings, std::span(mechanism.grids).first(stages.size()), Position{0});
  lane::Releases releases;
  lane.advance({rows.dimension, rows.count, rows.x, rows.y, nullptr, nullptr, rows.weights}, noise, releases);
  return lane.clipped();
}

}  // namespace nustream::check
