// Tries patterns of a canary user's steps, and takes the one that the filters over B see best. The claim about it is
// computed as the ledger does, from the lines of all epochs.
#include "audit/worst_user.h"

#include <algorithm>
#include <vector>

#include "audit/matched_filter.h"
#include "engine/epoch_ledger.h"
#include "engine/spent.h"
#include "nustream/users/over_windows.h"

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
    // A mass W has room for ⌊W⌋ contributions of length 1, and for one shorter one if W is below 1.
    pattern.times =
        std::min(pattern.times, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(limits.mass()->value())));
  }
  return pattern;
}

/// Adds the pattern's steps among [first, end), as early as they can be.
void add(const Pattern& pattern, std::uint64_t first, std::uint64_t end, std::vector<std::uint64_t>& at) {
  for (std::uint64_t i = 0, step = first; i < pattern.times && step < end; ++i, step += pattern.separation) {
    at.push_back(step);
  }
}

/// μ² that the filters of all stages see together. Stages have noise of their own, so their squares add up.
double information(const config::Mechanism& mechanism, const GameShape& shape) {
  double squares = 0;
  for (const config::CalibratedStage& stage : mechanism.stages) {
    const MatchedFilter filter(stage.correlation, stage.stddev.value(), stage.displacement.value(), shape);
    squares += filter.mu() * filter.mu();
  }
  return squares;
}

/// Steps in which the user takes part, and the borders of each epoch's windows.
struct Steps {
  std::vector<std::uint64_t> at{};
  std::vector<std::uint64_t> borders{};
};

/// The patterns of one window in each epoch. Where one set of limits holds for both epochs (`shared`), they differ in
/// how many of the contributions fall in the first epoch; the others fall in the second.
std::vector<Steps> patterns(const Pattern& allowed, bool shared, const Options& options) {
  const std::uint64_t of_epoch = options.steps / options.epochs;
  std::vector<Steps> all;
  for (std::uint64_t in_first = shared ? 0 : allowed.times; in_first <= allowed.times; ++in_first) {
    std::vector<std::uint64_t>& at = all.emplace_back().at;
    for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
      Pattern here = allowed;
      if (shared)
        here.times = epoch == 0 ? in_first : allowed.times - std::min<std::uint64_t>(at.size(), allowed.times);
      add(here, epoch * of_epoch, (epoch + 1) * of_epoch, at);
    }
  }
  return all;
}

/// The patterns of several windows in each epoch. Each window begins right behind the last step of the one before.
/// All but the last have the same number of contributions, in which the patterns differ.
std::vector<Steps> patterns_over_windows(const Pattern& allowed, const Options& options) {
  const std::uint64_t of_epoch = options.steps / options.epochs;
  std::vector<Steps> all;
  const std::uint64_t most = std::min(allowed.times, (of_epoch - 1) / allowed.separation + 1);
  for (std::uint64_t times = 1; times <= most; ++times) {
    // From a window's first contribution to its last one.
    const std::uint64_t length = (times - 1) * allowed.separation + 1;
    if ((options.windows - 1) * length >= of_epoch) break;
    Steps& steps = all.emplace_back();
    for (std::uint64_t window = 1; window < options.windows; ++window) steps.borders.push_back(window * length);
    for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
      const std::uint64_t begin = epoch * of_epoch;
      for (std::uint64_t window = 0; window + 1 < options.windows; ++window) {
        add({times, allowed.separation}, begin + window * length, begin + of_epoch, steps.at);
      }
      add(allowed, begin + steps.borders.back(), begin + of_epoch, steps.at);
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
  const Rho of_one_window = engine::total_spent(lines, config.privacy.neighbours());
  return users::over_windows(of_one_window, mechanism.main().correlation, StepCount{options.steps / options.epochs},
                             *config.descent.users, options.windows)
      .rho;
}

}  // namespace

WorstUser worst_user(const config::Config& config, const config::Mechanism& mechanism, const Options& options) {
  const users::Limits& limits = *config.descent.users;
  // Where limits hold within windows of time, nothing carries over from epoch to epoch.
  const bool carries_over = options.keeps_counts && !limits.windows();
  GameShape shape{options.steps, {}, options.along_axis};
  shape.epochs = options.epochs;
  shape.keeps_counts = carries_over;
  if (limits.mass()) shape.length = std::min(limits.mass()->value(), 1.0);
  const Pattern allowed = pattern_of(limits, options.steps);
  std::optional<GameShape> best;
  double most = 0;
  for (Steps& steps : options.windows > 1 ? patterns_over_windows(allowed, options)
                                          : patterns(allowed, options.epochs > 1 && carries_over, options)) {
    shape.at = std::move(steps.at);
    shape.borders = std::move(steps.borders);
    const double shown = information(mechanism, shape);
    // Of patterns that show as much up to rounding the first is kept, so that the choice does not depend on the
    // machine.
    if (best && !(shown > most * (1 + 1e-12))) continue;
    best = shape;
    most = shown;
  }
  return {*best, claimed(config, mechanism, carries_over, options)};
}

}  // namespace nustream::audit
