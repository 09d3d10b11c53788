// The size of a run over a whole table: who takes part when, which is public because n is (replace-one adjacency),
// and what follows from it for σ. From docs/notation.md: n records, minibatches of m, T steps, b = ⌈n/m⌉ steps a
// pass.
#include "engine/table_design.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "config/moments.h"
#include "engine/sums_reach.h"
#include "error.h"
#include "nustream/base/error.h"
#include "nustream/inference/table_descent.h"
#include "nustream/privacy/epsilon.h"
#include "nustream/privacy/zcdp.h"

namespace nustream::engine {

privacy::Participation TableDesign::participation() const {
  if (of_users) return {steps, 1};
  return {passes(), steps_of_a_pass};
}

Rho TableDesign::of_all_runs(Rho of_one) const {
  return privacy::compose(std::vector<Rho>(runs, of_one));
}

namespace {

[[noreturn]] void refuse_size(const config::Config& config, const char* key, std::uint64_t value,
                              const char* allowed) {
  throw Failure(Exit::configuration,
                config.file + ": " + key + " = " + std::to_string(value) + ": allowed is " + allowed);
}

/// Designs running sums: one pass over the table in steps of release.every records, or in one step of all of them.
/// Every step makes a release.
TableDesign settle_sums(config::Config& config, std::uint64_t rows) {
  std::uint64_t& every = config.descent.minibatch;
  if (every > rows) {
    refuse_size(config, "release.every", every, "at most the number of records; leave it out for one step of all");
  }
  if (every == 0) every = rows;
  if (const std::uint64_t last = config.moments->stages.back().from; last >= rows) {
    refuse_size(config, "moments.stages: from", last, "less than the number of records");
  }
  // The last step is not full where m does not divide n.
  const std::uint64_t steps = (rows + every - 1) / every;
  // The correlation of running sums is calibrated for exactly these releases, each of which is one step.
  config.estimate.steps = steps;
  config.moments->releases = steps;
  config.noise.correlation = config::correlation_of(*config.moments, every);
  return {rows, every, steps, steps, 1, config.users.has_value()};
}

}  // namespace

TableDesign settle_design(config::Config& config, std::uint64_t rows) {
  if (rows == 0) throw Failure(Exit::data, "the input holds no record; nothing was estimated");
  if (config.moments) {
    // From here on ρ alone says what may be spent: ε was only another way of asking for it.
    config.privacy.rho = config::rho_asked(config.privacy);
    config.privacy.epsilon.reset();
    const TableDesign design = settle_sums(config, rows);
    // A table may hold rows of one user in every minibatch. So the limit that counts is that of the design, and no
    // store of users is needed to enforce it.
    if (config.users) config.descent.users = users::Limits(design.participation(), {});
    return design;
  }
  if (config.estimate.full_batch) config.descent.minibatch = rows;
  // Schedules that fall to the end of a run need to know how long the run is.
  config.descent.schedule = config.descent.schedule.over(StepCount{config.estimate.steps});
  if (auto& first = config.descent.first_stage) {
    first->schedule = first->schedule.over(StepCount{config.estimate.steps});
  }
  const std::uint64_t m = config.descent.minibatch;
  if (m > rows) {
    refuse_size(config, "descent.minibatch", m, "at most the number of records; leave it out for full batches");
  }
  // Runs are over the same records. So each run has an equal share of rho.
  const bool by_runs = config.intervals.kind == config::Intervals::Kind::runs;
  const std::uint64_t runs = by_runs ? config.intervals.count : 1;
  config::Privacy& privacy = config.privacy;
  const Rho all = privacy.rho ? *privacy.rho : privacy::rho_for(*privacy.epsilon, privacy.delta);
  privacy.rho = Rho{all.value() / static_cast<double>(runs)};
  privacy.epsilon.reset();
  const TableDesign design{rows, m, (rows + m - 1) / m, config.estimate.steps, runs, config.users.has_value()};
  if (config.users) config.descent.users = users::Limits(design.participation(), {});
  return design;
}

std::optional<double> predicted_stddev(const config::Config& config, const config::Mechanism& mechanism,
                                       const TableDesign& design) {
  // The formula of inference::last_iterate(), along a direction with the eigenvalue 1. A step moves by the sum of m
  // gradients over m, so that the noise of the sum counts by 1/m.
  const auto stddev_of = [&](const config::CalibratedStage& noise,
                             const descent::Schedule& schedule) -> std::optional<double> {
    try {
      const double variance =
          inference::last_iterate(noise.correlation, schedule, 1, config.descent.momentum, design.steps)
              .noise_variance;
      const double stddev = std::sqrt(variance) * noise.stddev.value() / static_cast<double>(design.minibatch);
      // A descent that diverges overflows. Its noise is then given as the largest number.
      return std::isfinite(stddev) ? stddev : std::numeric_limits<double>::max();
    } catch (const Unsupported&) {
      return std::nullopt;  // no formula can be computed in a moment
    }
  };
  if (config.moments) return sums_reach(config, mechanism, StepCount{design.steps}).stddev;
  // With two stages, each of which has noise of its own, the larger deviation is told.
  const std::optional<double> main = stddev_of(mechanism.main(), config.descent.schedule);
  const auto& first = config.descent.first_stage;
  if (!main || !first || !first->clip) return main;
  const std::optional<double> other = stddev_of(mechanism.stages[1], first->schedule);
  if (!other) return std::nullopt;  // the unknown deviation may be the larger one
  return std::max(*main, *other);
}

}  // namespace nustream::engine
