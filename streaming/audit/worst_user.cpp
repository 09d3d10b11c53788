#include "audit/worst_user.h"

#include <algorithm>
#include <vector>

#include "audit/matched_filter.h"
#include "engine/epoch_ledger.h"
#include "engine/spent.h"
#include "nustream/users/period.h"

namespace nustream::audit {
namespace {

/// How many contributions a user may make under one set of limits, and how many steps they lie apart.
struct Pattern {
  std::uint64_t times;
  std::uint64_t separation;
};

Pattern pattern_of(const users::Limits& limits, std::uint64_t steps) {
  Pattern pattern{steps, 1};
  if (const auto& participation = limits.participation()) {
    pattern = {std::min(steps, participation->times()), participation->separation()};
  }
  if (limits.mass()) {
    pattern.times =
        std::min(pattern.times, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(limits.mass()->value())));
  }
  return pattern;
}

/// Adds the pattern's steps among [first, first + steps), as early or as late as they can be.
void add(const Pattern& pattern, std::uint64_t first, std::uint64_t steps, bool late,
         std::vector<std::uint64_t>& at) {
  const std::uint64_t fit = (steps - 1) / pattern.separation + 1;
  const std::uint64_t times = std::min(pattern.times, fit);
  if (times == 0) return;
  const std::uint64_t spare = late ? steps - 1 - (times - 1) * pattern.separation : 0;
  for (std::uint64_t i = 0; i < times; ++i) at.push_back(first + spare + i * pattern.separation);
}

double information(const config::Mechanism& mechanism, const GameShape& shape) {
  double squares = 0;
  for (const config::StageNoise& stage : mechanism.stages) {
    const MatchedFilter filter(stage.correlation, stage.stddev.value(), stage.displacement.value(), shape);
    squares += filter.mu() * filter.mu();
  }
  return squares;
}

/// All patterns of steps that are compared. Where one set of limits holds for both epochs (`shared`), they differ in
/// how many of the contributions fall in the first epoch; the others fall in the second.
std::vector<std::vector<std::uint64_t>> patterns(const Pattern& allowed, bool shared, const Options& options) {
  const std::uint64_t of_epoch = options.steps / options.epochs;
  const std::uint64_t of_window = of_epoch / options.windows;
  std::vector<std::vector<std::uint64_t>> all;
  for (const bool late : {false, true}) {
    if (late && options.windows == 1) continue;
    for (std::uint64_t in_first = shared ? 0 : allowed.times; in_first <= allowed.times; ++in_first) {
      std::vector<std::uint64_t>& at = all.emplace_back();
      for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
        Pattern here = allowed;
        if (shared)
          here.times = epoch == 0 ? in_first : allowed.times - std::min<std::uint64_t>(at.size(), allowed.times);
        for (std::uint64_t window = 0; window < options.windows; ++window) {
          add(here, epoch * of_epoch + window * of_window, of_window, late && window % 2 == 0, at);
        }
      }
    }
  }
  return all;
}

Rho claimed(const config::Config& config, const config::Mechanism& mechanism, bool carries_over,
            const Options& options) {
  std::vector<journal::LedgerEntry> lines;
  for (std::uint32_t epoch = 0; epoch < options.epochs; ++epoch) {
    const engine::EpochLedger ledger(
        {config.stream, config.lane, EpochId{epoch}, Position{0}, journal::Overlap::disjoint, std::string(64, '0'),
         config.privacy.neighbours(), true, "", config.descent.users, epoch > 0 && carries_over},
        mechanism, {});
    lines.push_back(ledger.entry(StepCount{options.steps / options.epochs}, Position{1}));
  }
  return users::over_windows(engine::total_spent(lines, config.privacy.neighbours()), options.windows);
}

}  // namespace

WorstUser worst_user(const config::Config& config, const config::Mechanism& mechanism, const Options& options) {
  const users::Limits& limits = *config.descent.users;
  // Where limits hold within windows of time, nothing carries over from epoch to epoch.
  const bool carries_over = options.keeps_counts && !limits.windows();
  GameShape shape{options.steps, {}, options.along_axis, options.windows};
  shape.epochs = options.epochs;
  shape.keeps_counts = carries_over;
  if (limits.mass()) shape.length = std::min(limits.mass()->value(), 1.0);
  const Pattern allowed = pattern_of(limits, options.steps);
  std::optional<GameShape> best;
  double most = 0;
  for (std::vector<std::uint64_t>& at : patterns(allowed, options.epochs > 1 && carries_over, options)) {
    shape.at = std::move(at);
    const double shown = information(mechanism, shape);
    if (best && !(shown > most * (1 + 1e-12))) continue;
    best = shape;
    most = shown;
  }
  return {*best, claimed(config, mechanism, carries_over, options)};
}

}  // namespace nustream::audit
