#include "estimate/path.h"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "error.h"
#include "nustream/inference/interval.h"

namespace nustream::estimate {
namespace {

using publish::ShownRelease;
using Kind = config::Intervals::Kind;

constexpr std::uint64_t enough_steps = 200;  // as for intervals of a stream

/// The iterates that an interval is made of.
std::vector<const ShownRelease*> members(const config::Config& config, const std::vector<ShownRelease>& path) {
  const config::Intervals& intervals = config.intervals;
  const std::uint64_t steps = config.estimate.steps;
  std::vector<const ShownRelease*> chosen;
  if (intervals.kind == Kind::runs) {
    for (const ShownRelease& release : path) {
      if (release.step == steps) chosen.push_back(&release);
    }
    if (chosen.size() > intervals.count) {
      chosen.erase(chosen.begin(), chosen.end() - static_cast<std::ptrdiff_t>(intervals.count));
    }
    return chosen;
  }
  const std::uint64_t spacing = (steps - intervals.burn_in) / intervals.count;
  for (const ShownRelease& release : path) {
    if (release.epoch != path.back().epoch || release.step <= intervals.burn_in) continue;
    if ((release.step - intervals.burn_in) % spacing == 0 && chosen.size() < intervals.count)
      chosen.push_back(&release);
  }
  return chosen;
}

}  // namespace

std::vector<ShownRelease> released_under(const std::string& folder, const std::string& digest) {
  const std::string file = folder + "/releases.jsonl";
  std::ifstream lines(file);
  if (!lines) throw system_failure(Exit::io, "read", file, errno, "restore it");
  std::vector<ShownRelease> path;
  for (std::string line; std::getline(lines, line);) {
    auto release = publish::read_release(line);
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
  const std::vector<const ShownRelease*> chosen = members(config, path);
  if (chosen.size() < intervals.count) return std::nullopt;
  const bool runs = intervals.kind == Kind::runs;
  const std::uint64_t steps =
      runs ? intervals.count * config.estimate.steps : config.estimate.steps - intervals.burn_in;
  console::ReportedIntervals reported{
      runs ? "runs" : "checkpoints",
      "the minimiser of the clipped loss over this table, not the population parameter",
      intervals.level,
      steps,
      chosen.back()->step,
      steps < enough_steps,
      {},
      {}};
  for (std::size_t j = 0; j < path.back().estimate.size(); ++j) {
    std::vector<double> values;
    values.reserve(chosen.size());
    for (const ShownRelease* release : chosen) values.push_back(release->estimate[j].second);
    const inference::Interval interval = *inference::t_interval(values, intervals.level);
    reported.bounds.emplace_back(interval.lower(), interval.upper());
    reported.means.push_back(interval.center);
  }
  return reported;
}

}  // namespace nustream::estimate
