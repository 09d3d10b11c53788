#include "check/first_look.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "config/moments.h"
#include "nustream/lane/lane.h"
#include "nustream/moments/batch_sums.h"
#include "nustream/users/changes.h"
#include "nustream/users/table.h"

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

/// What a lane does in its first step, over so many rows. What does not matter to the first gradients is left out.
lane::Settings first_step(const config::Config& config, std::size_t rows) {
  lane::Settings settings = config.descent;
  settings.minibatch = rows;
  settings.release_every = std::numeric_limits<std::uint64_t>::max();
  settings.averaging = {};
  settings.batching.reset();
  settings.moments.reset();
  settings.counts_clipped = false;
  settings.users.reset();
  return settings;
}

/// One step over all rows, by the lane itself and with noise that is zero: whatever the lane clips is counted as the
/// run will count it. Where the unit is the user, `users` takes what users use up.
lane::Lane stepped(const lane::Settings& settings, const config::Mechanism& mechanism, const record::RowSlice& rows,
                   users::Changes* users) {
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
  lane.advance({rows.dimension, rows.count, rows.x, rows.y, nullptr, rows.users, rows.weights}, noise, releases,
               users);
  return lane;
}

}  // namespace

std::uint64_t clipped_at_start(const config::Config& config, const config::Mechanism& mechanism,
                               const record::RowSlice& rows) {
  if (rows.count == 0) return 0;
  if (config.moments) return clipped_residuals(config, mechanism, rows);
  return stepped(first_step(config, rows.count), mechanism, rows, nullptr).clipped();
}

ClippedContributions clipped_contributions(const config::Config& config, const config::Mechanism& mechanism,
                                           const record::RowSlice& rows) {
  ClippedContributions found;
  const users::Table nobody;
  for (std::size_t first = 0; first < rows.count; first += config.descent.minibatch) {
    const record::RowSlice step =
        rows.part(first, std::min<std::size_t>(config.descent.minibatch, rows.count - first));
    lane::Settings settings = first_step(config, step.count);
    settings.users =
        users::Limits(privacy::Participation::once(), {});  // of the first step no limit keeps anybody out
    users::Changes changes(nobody);
    const lane::Lane lane = stepped(settings, mechanism, step, &changes);
    found.contributions += lane.contributions();
    found.clipped += lane.clipped();
  }
  return found;
}

}  // namespace nustream::check
