#include "estimate/report.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <span>

#include "error.h"
#include "located.h"
#include "nustream/inference/interval.h"

namespace nustream::estimate {
namespace {

using publish::ShownRelease;
using Kind = config::Intervals::Kind;

constexpr std::uint64_t enough_steps = 200;  // with fewer steps intervals are marked; a stream has the same limit

/// The steps after which a run gives the interval a value: its last step, or those of its checkpoints.
std::vector<std::uint64_t> ends_of_a_run(const config::Config& config) {
  const config::Intervals& intervals = config.intervals;
  const std::uint64_t steps = config.estimate.steps;
  if (intervals.kind == Kind::runs) return {steps};
  const std::uint64_t spacing = (steps - intervals.burn_in) / intervals.count;
  std::vector<std::uint64_t> ends;
  for (std::uint64_t i = 1; i <= intervals.count; ++i) ends.push_back(intervals.burn_in + i * spacing);
  return ends;
}

/// One value of the interval: the mean of the iterates of one epoch that were released in the last steps up to `end`.
/// Nothing where one of them is missing.
std::optional<std::vector<double>> averaged_end(const config::Config& config, std::span<const ShownRelease> epoch,
                                                std::uint64_t end) {
  const std::uint64_t averaged = config.intervals.averaged;
  const std::uint64_t every = averaged == 1 ? 1 : config.descent.release_every;
  std::vector<double> mean;
  std::uint64_t found = 0;
  for (const ShownRelease& release : epoch) {
    if (release.step > end || release.step + averaged <= end) continue;
    if (release.step % every != 0) continue;  // a signal brought this release, so it does not belong to the average
    mean.resize(release.estimate.size());
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += release.estimate[j].second;
    ++found;
  }
  if (found != averaged / every) return std::nullopt;
  for (double& entry : mean) entry /= static_cast<double>(found);
  return mean;
}

/// The values that an interval is made of: those of the last finished runs, or those of the checkpoints of the last
/// run. They are fewer than intervals.count where releases are missing.
std::vector<std::vector<double>> values_along(const config::Config& config, const std::vector<ShownRelease>& path) {
  std::vector<std::vector<double>> values;
  for (auto last = path.end(); last != path.begin() && values.size() < config.intervals.count;) {
    auto first = last;
    while (first != path.begin() && std::prev(first)->epoch == std::prev(last)->epoch) --first;
    for (const std::uint64_t end : ends_of_a_run(config)) {
      if (auto value = averaged_end(config, {first, last}, end)) values.push_back(*std::move(value));
    }
    last = config.intervals.kind == Kind::runs ? first : path.begin();
  }
  return values;
}

}  // namespace

std::vector<ShownRelease> released_under(const std::string& folder, const std::string& digest) {
  const std::string file = folder + "/releases.jsonl";
  std::ifstream lines(file);
  if (!lines) throw system_failure(Exit::io, "read", file, errno, "restore it");
  std::vector<ShownRelease> path;
  for (std::string line; std::getline(lines, line);) {
    auto release = located(file, [&] { return publish::read_release(line); });
    if (release && release->digest == digest) path.push_back(std::move(*release));
  }
  return path;
}

std::uint64_t finished_runs(const std::vector<ShownRelease>& path, std::uint64_t steps) {
  return static_cast<std::uint64_t>(std::ranges::count(path, steps, &ShownRelease::step));
}

std::optional<console::ReportedIntervals> intervals_along(const config::Config& config,
                                                          const std::vector<ShownRelease>& path) {
  const config::Intervals& intervals = config.intervals;
  if (path.empty() || intervals.kind == Kind::none) return std::nullopt;
  if (intervals.kind == Kind::batch_means || intervals.kind == Kind::sandwich || intervals.kind == Kind::residuals) {
    return console::reported_intervals(path.back());
  }
  const std::vector<std::vector<double>> values = values_along(config, path);
  if (values.size() < intervals.count) return std::nullopt;
  const bool runs = intervals.kind == Kind::runs;
  const std::uint64_t last = ends_of_a_run(config).back();
  const std::uint64_t all =
      runs ? intervals.count * config.estimate.steps : config.estimate.steps - intervals.burn_in;
  const std::uint64_t steps = intervals.count * intervals.averaged;  // the other steps only led to these
  console::ReportedIntervals reported{
      runs ? "runs" : "checkpoints",
      "the minimiser of the clipped loss over this table, not the population parameter",
      intervals.level,
      steps,
      last,
      all < enough_steps,
      {},
      {}};
  for (std::size_t j = 0; j < path.back().estimate.size(); ++j) {
    std::vector<double> of_coefficient;
    for (const std::vector<double>& value : values) of_coefficient.push_back(value[j]);
    const inference::Interval interval = *inference::t_interval(of_coefficient, intervals.level);
    reported.bounds.emplace_back(interval.lower(), interval.upper());
    reported.means.push_back(interval.center);
  }
  return reported;
}

}  // namespace nustream::estimate
