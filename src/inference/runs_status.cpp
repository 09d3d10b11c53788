// Compares independent runs from one start: cosines over a run's stretches show common movement, and the variance of
// the runs' levels against that of their cosines shows whether a run remembers its own noise. The runs give the
// variance, so the test of movement holds whatever their memory is.
#include "nustream/inference/runs_status.h"

#include <boost/math/distributions/fisher_f.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "inference/movement.h"
#include "nustream/base/error.h"

namespace nustream::inference {
namespace {

constexpr std::size_t stretches = stretches_of_a_run;
constexpr std::size_t cosines = 2;
using RunPath = std::array<double, stretches>;  // one coordinate of one run

/// √(2/n) Σ_i v_i cos(πj(i + ½)/n), and for j = 0 the level Σ_i v_i/√n: of independent values with one variance each
/// has that variance.
double component(const RunPath& path, std::size_t j) {
  const auto n = static_cast<double>(stretches);
  // A path that stands still has exactly 0 in its cosines.
  const double from = j == 0 ? 0 : path.front();
  double sum = 0;
  for (std::size_t i = 0; i < stretches; ++i) {
    sum +=
        (path[i] - from) * std::cos(std::numbers::pi * static_cast<double>(j) * (static_cast<double>(i) + 0.5) / n);
  }
  return sum * std::sqrt((j == 0 ? 1 : 2) / n);
}

/// The mean and the variance over the runs.
struct SpreadOfRuns {
  double mean = 0;
  double variance = 0;
};

SpreadOfRuns spread_of(std::span<const double> values) {
  const auto m = static_cast<double>(values.size());
  SpreadOfRuns spread;
  // Differences from the first value keep the digits that a large mean would cost.
  for (const double value : values) spread.mean += (value - values.front()) / m;
  spread.mean += values.front();
  for (const double value : values) spread.variance += (value - spread.mean) * (value - spread.mean) / (m - 1);
  return spread;
}

SpreadOfRuns spread_of_component(std::span<const RunPath> paths, std::size_t j) {
  std::vector<double> values;
  for (const RunPath& path : paths) values.push_back(component(path, j));
  return spread_of(values);
}

/// The numerator of the slope over the order of the values, which is enough to compare stretches of one length.
double cross_with_order(std::span<const double> values) {
  double cross = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    cross += (static_cast<double>(i) - (static_cast<double>(values.size()) - 1) / 2) * values[i];
  }
  return cross;
}

/// Whether the runs' mean path moves less than half as fast in the later half of its stretches.
bool runs_slow_down(std::span<const RunPath> paths) {
  RunPath mean{};
  for (const RunPath& path : paths) {
    for (std::size_t i = 0; i < stretches; ++i) mean[i] += path[i];
  }
  const std::span<const double> all(mean);
  return std::abs(cross_with_order(all.last(stretches / 2))) <
         std::abs(cross_with_order(all.first(stretches / 2))) / 2;
}

/// Whether the runs differ more than a hundred times as much at their ends as at the first stretch.
bool runs_grew_apart(std::span<const RunPath> paths) {
  std::vector<double> early;
  std::vector<double> late;
  for (const RunPath& path : paths) {
    early.push_back(path.front());
    late.push_back(path.back());
  }
  constexpr double times = 100;
  return spread_of(late).variance > times * times * spread_of(early).variance;
}

/// a/b, and 0 where a is nothing.
double over(double a, double b) {
  return a == 0 ? 0 : a / b;
}

/// The thresholds that runs which have settled hardly ever exceed.
struct RunThresholds {
  double trend;
  double memory;
};

/// A sixth of the false alarms goes to the test of movement, shared by its two cosines; the rest goes to the test of
/// memory.
RunThresholds run_thresholds_of(std::size_t runs, double false_alarm) {
  // m runs leave m − 1 degrees of freedom to the levels, and as many to each cosine.
  const double between = static_cast<double>(runs) - 1;
  const double within = static_cast<double>(cosines) * between;
  const boost::math::fisher_f levels(between, within);
  return {student_quantile(within, 1 - false_alarm / 6 / static_cast<double>(cosines)),
          boost::math::quantile(boost::math::complement(levels, false_alarm * 5 / 6))};
}

/// Looks at one coordinate of all runs.
void look_at_runs(std::span<const RunPath> paths, const RunThresholds& thresholds, RunsStatus& status,
                  Movement& seen) {
  std::array<SpreadOfRuns, cosines> moved;
  // The variance of both cosines together, over the runs.
  double within = 0;
  for (std::size_t j = 0; j < cosines; ++j) {
    moved[j] = spread_of_component(paths, j + 1);
    within += moved[j].variance / static_cast<double>(cosines);
  }
  double trend = 0;
  for (const SpreadOfRuns& each : moved) {
    trend = std::max(trend, over(std::abs(each.mean), std::sqrt(within / static_cast<double>(paths.size()))));
  }
  // If the stretches of a run were independent, its level would vary from run to run as much as its cosines do.
  const double memory = over(spread_of_component(paths, 0).variance, within);
  const bool moves = trend > thresholds.trend;
  seen.moves = seen.moves || moves;
  seen.goes_on = seen.goes_on || (moves && !runs_slow_down(paths));
  seen.remembers = seen.remembers || memory > thresholds.memory;
  seen.apart = seen.apart || runs_grew_apart(paths);
  status.trend = std::max(status.trend, trend);
  status.memory = std::max(status.memory, memory);
}

}  // namespace

RunsStatus runs_status(std::span<const std::vector<double>> runs, std::size_t dimension, double false_alarm) {
  NUSTREAM_REQUIRE(runs.size() >= 2 && dimension > 0, "several runs of d coordinates");
  RunsStatus status{Verdict::settled, 0, 0, false_alarm};
  for (const std::vector<double>& run : runs) {
    NUSTREAM_REQUIRE(run.size() == stretches * dimension, "a mean for every stretch of a run");
    const bool finite = std::all_of(run.begin(), run.end(), [](double value) { return std::isfinite(value); });
    if (!finite) return {Verdict::diverged, 0, 0, false_alarm};
  }
  const RunThresholds thresholds = run_thresholds_of(runs.size(), false_alarm / static_cast<double>(dimension));
  Movement seen;
  std::vector<RunPath> paths(runs.size());
  for (std::size_t k = 0; k < dimension; ++k) {
    for (std::size_t r = 0; r < runs.size(); ++r) {
      for (std::size_t i = 0; i < stretches; ++i) paths[r][i] = runs[r][i * dimension + k];
    }
    look_at_runs(paths, thresholds, status, seen);
  }
  status.verdict = seen.verdict();
  return status;
}

}  // namespace nustream::inference
