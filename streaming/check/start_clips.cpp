// Counts what would be clipped where a run begins, by the lane's own code: one step over the given rows with zeros
// for noise, whose result is thrown away. So no second account of clipping can disagree with the run's.
#include "check/first_look.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "config/moments.h"
#include "nustream/lane/lane.h"
#include "nustream/moments/batch_sums.h"
#include "nustream/moments/lane.h"
#include "nustream/users/changes.h"
#include "nustream/users/table.h"

namespace nustream::check {
namespace {

/// Counts the clipped residuals of running sums, which are taken about the start.
std::uint64_t clipped_residuals(const config::Config& config, const config::Mechanism& mechanism,
                                const record::RowSlice& rows) {
  const moments::Settings settings = config::moments_settings(config, mechanism);
  const moments::Design& design = settings.mechanism.design;
  // The sums are not used, only the count beside them, so a fine grid serves all blocks.
  moments::BatchSums sums(design, moments::Spacings(moments::blocks(design).size(), moments::exact_spacing));
  sums.aim(settings.stages.front().radii, settings.start);
  sums.add(rows);
  return sums.clipped();
}

/// The settings of a lane's first step over `rows` rows. What does not matter to the first gradients is left out.
lane::Settings first_step(const config::Config& config, std::size_t rows) {
  lane::Settings settings = config.descent;
  settings.minibatch = rows;
  // A step without noise must never be released.
  settings.release_every = std::numeric_limits<std::uint64_t>::max();
  settings.averaging = {};
  settings.batching.reset();
  settings.trail.reset();
  settings.moments.reset();
  settings.counts_clipped = false;
  settings.users.reset();
  return settings;
}

/// The zeros that a lane is given in place of its first step's noise.
class NoNoise {
 public:
  explicit NoNoise(const std::vector<std::size_t>& dimensions) {
    zeros_.reserve(dimensions.size());
    for (const std::size_t dimension : dimensions) {
      zeros_.emplace_back(dimension, 0);
      noise_.push_back({StepIndex{0}, dimension, zeros_.back()});
    }
  }
  [[nodiscard]] std::span<const noise::GridNoise> of_stages() const noexcept { return noise_; }

 private:
  std::vector<std::vector<std::int64_t>> zeros_;
  std::vector<noise::GridNoise> noise_;
};

/// Takes one step over all rows, by the lane itself and with noise that is zero: whatever the lane clips is counted
/// as the run will count it. Where the unit is the user, `users` records what users use up.
lane::Lane stepped(const lane::Settings& settings, const config::Mechanism& mechanism, const record::RowSlice& rows,
                   users::Changes* users) {
  const std::vector<lane::Stage> stages = lane::stages(settings);
  std::vector<std::size_t> dimensions;
  for (const lane::Stage& stage : stages) dimensions.push_back(stage.dimension);
  const NoNoise nothing(dimensions);
  // Second moments and the private count are the last stages; they are left out.
  lane::Lane lane(settings, std::span(mechanism.grids).first(stages.size()), Position{0});
  lane::Releases releases;
  lane.advance({rows.dimension, rows.count, rows.x, rows.y, nullptr, rows.users, rows.weights}, nothing.of_stages(),
               releases, users);
  return lane;
}

/// Limits that exclude nobody from the first step.
users::Limits of_one_step() {
  return {privacy::Participation::once(), {}};
}

/// The settings of a first step of running sums over `rows` rows, about the start.
moments::Settings first_step_of_sums(const config::Config& config, const config::Mechanism& mechanism,
                                     std::size_t rows) {
  moments::Settings settings = config::moments_settings(config, mechanism);
  settings.mechanism.participation.batch = rows;
  settings.mechanism.users = of_one_step();
  // Only the first stage has a step, about the start.
  settings.stages.resize(1);
  settings.repeat_every = 0;
  settings.memory.reset();
  settings.release_sums = false;
  return settings;
}

/// Takes such a step of running sums.
moments::Lane stepped(const moments::Settings& settings, const record::RowSlice& rows, users::Changes& users) {
  const moments::Design& design = settings.mechanism.design;
  std::vector<std::size_t> dimensions;
  for (const moments::Block block : moments::noised_blocks(design)) {
    dimensions.push_back(moments::entries(design, block));
  }
  const NoNoise nothing(dimensions);
  moments::Lane lane(settings, Position{0});
  moments::Releases releases;
  lane.advance({rows.dimension, rows.count, rows.x, rows.y, nullptr, rows.users, rows.weights}, nothing.of_stages(),
               releases, &users);
  return lane;
}

/// Counts what is clipped in one step over all rows.
ClipCount of_step(const config::Config& config, const config::Mechanism& mechanism, const record::RowSlice& rows) {
  const users::Table nobody;
  users::Changes changes(nobody);
  if (config.moments) {
    const moments::Lane lane = stepped(first_step_of_sums(config, mechanism, rows.count), rows, changes);
    return {lane.contributions(), lane.clipped()};
  }
  lane::Settings settings = first_step(config, rows.count);
  settings.users = of_one_step();
  const lane::Lane lane = stepped(settings, mechanism, rows, &changes);
  return {lane.contributions(), lane.clipped()};
}

}  // namespace

std::uint64_t clipped_at_start(const config::Config& config, const config::Mechanism& mechanism,
                               const record::RowSlice& rows) {
  if (rows.count == 0) return 0;
  if (config.moments) return clipped_residuals(config, mechanism, rows);
  return stepped(first_step(config, rows.count), mechanism, rows, nullptr).clipped();
}

ClipCount clipped_contributions(const config::Config& config, const config::Mechanism& mechanism,
                                const record::RowSlice& rows, std::size_t rows_of_step) {
  ClipCount found;
  for (std::size_t first = 0; first < rows.count;) {
    const record::RowSlice step = rows.part(first, std::min(rows_of_step, rows.count - first));
    const ClipCount here = of_step(config, mechanism, step);
    found.gradients += here.gradients;
    found.clipped += here.clipped;
    first += step.count;
  }
  return found;
}

}  // namespace nustream::check
