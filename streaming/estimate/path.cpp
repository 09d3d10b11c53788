// Intervals and status of an estimate, from the releases in its folder: which releases give a value, their means, and
// what the path between them looks like. Releases are public, so all of this is post-processing.
#include "estimate/report.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <span>

#include "config/judged_steps.h"
#include "error.h"
#include "located.h"
#include "nustream/inference/interval.h"
#include "nustream/inference/swing.h"

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
  // A value of one iterate is its last step, whatever the cadence. A mean is over the releases at the cadence.
  const std::uint64_t every = averaged == 1 ? 1 : config.descent.release_every;
  std::vector<double> mean;
  std::uint64_t found = 0;
  for (const ShownRelease& release : epoch) {
    // The steps (end − averaged, end].
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

/// The releases of the last runs that have a value, the last run first; for checkpoints those of the last run alone.
std::vector<std::span<const ShownRelease>> judged_runs(const config::Config& config,
                                                       const std::vector<ShownRelease>& path) {
  const bool are_several = config.intervals.kind == Kind::runs;
  const std::uint64_t count = are_several ? config.intervals.count : 1;
  std::vector<std::span<const ShownRelease>> runs;
  // Releases of one run stand together and have one epoch, so the path is cut from its end backwards.
  for (auto last = path.end(); last != path.begin() && runs.size() < count;) {
    auto first = last;
    while (first != path.begin() && std::prev(first)->epoch == std::prev(last)->epoch) --first;
    const std::span<const ShownRelease> run(first, last);
    if (!are_several || averaged_end(config, run, config.estimate.steps)) runs.push_back(run);
    last = first;
  }
  return runs;
}

/// The values that an interval is made of. There are fewer than intervals.count where releases are missing.
std::vector<std::vector<double>> values_along(const config::Config& config, const std::vector<ShownRelease>& path) {
  std::vector<std::vector<double>> values;
  for (const std::span<const ShownRelease> run : judged_runs(config, path)) {
    for (const std::uint64_t end : ends_of_a_run(config)) {
      if (auto value = averaged_end(config, run, end)) values.push_back(*std::move(value));
    }
  }
  return values;
}

/// The released iterates of a run's judged steps.
std::vector<const ShownRelease*> judged_iterates(const config::Config& config, const config::JudgedSteps& judged,
                                                 std::span<const ShownRelease> run) {
  std::vector<const ShownRelease*> iterates;
  for (const ShownRelease& release : run) {
    const bool is_judged = release.step > judged.from && release.step <= judged.through;
    // A signal brings releases at other steps, which would make the status depend on when it came.
    if (is_judged && release.step % config.descent.release_every == 0) iterates.push_back(&release);
  }
  return iterates;
}

/// Means of as many consecutive iterates each, of the last `count` · `length` iterates.
std::vector<double> means_of(std::span<const ShownRelease* const> iterates, std::size_t count, std::size_t length) {
  std::vector<double> means;
  const auto last = iterates.last(count * length);
  for (std::size_t i = 0; i < count; ++i) {
    const auto group = last.subspan(i * length, length);
    for (std::size_t j = 0; j < group.front()->estimate.size(); ++j) {
      double sum = 0;
      for (const ShownRelease* iterate : group) sum += iterate->estimate[j].second;
      means.push_back(sum / static_cast<double>(length));
    }
  }
  return means;
}

/// Means of the judged iterates in at least enough_batches batches; where they are fewer, batches of one iterate, of
/// which path_status() says that they are too few.
std::vector<double> batches_of(std::span<const ShownRelease* const> iterates) {
  const std::size_t length = std::max<std::size_t>(iterates.size() / inference::enough_batches, 1);
  const std::size_t count = iterates.size() / length;
  return count == 0 ? std::vector<double>() : means_of(iterates, count, length);
}

std::size_t dimension_of(std::span<const ShownRelease* const> iterates) {
  return iterates.empty() ? 1 : iterates.front()->estimate.size();
}

/// The last two iterates of each of `length` ones in a row, up to the last of all.
std::vector<double> pairs_of(std::span<const ShownRelease* const> iterates, std::size_t length) {
  std::vector<double> values;
  for (std::size_t end = iterates.size() % length + length; end <= iterates.size(); end += length) {
    for (const ShownRelease* iterate : iterates.subspan(end - 2, 2)) {
      for (const auto& [name, value] : iterate->estimate) values.push_back(value);
    }
  }
  return values;
}

/// The status of a run without intervals: of the iterates in its tail average, or else in its later half.
inference::PathStatus status_of_run(const config::Config& config, std::span<const ShownRelease> run) {
  const descent::Averaging& averaging = config.descent.averaging;
  const std::uint64_t steps = config.estimate.steps;
  const bool is_tail = averaging.kind == descent::Averaging::Kind::tail;
  const std::vector<const ShownRelease*> iterates =
      judged_iterates(config, {is_tail ? averaging.from : steps / 2, steps, inference::enough_batches}, run);
  const std::vector<double> means = batches_of(iterates);
  const std::size_t length = iterates.size() / inference::enough_batches;
  // Steps to and fro show in iterates that lie an odd number of steps apart.
  const bool has_pairs = length >= 2 && config.descent.release_every % 2 == 1;
  if (!has_pairs) return inference::path_status(means, dimension_of(iterates));
  return inference::swinging_status(means, pairs_of(iterates, length), dimension_of(iterates));
}

/// The judged iterates of each run in eight stretches. Where a run has too few of them the runs count as converging.
inference::RunsStatus status_of_runs(const config::Config& config, const config::JudgedSteps& judged,
                                     std::span<const std::span<const ShownRelease>> runs) {
  std::vector<std::vector<double>> means;
  for (const std::span<const ShownRelease> run : runs) {
    const std::vector<const ShownRelease*> iterates = judged_iterates(config, judged, run);
    const std::size_t length = iterates.size() / inference::stretches_of_a_run;
    if (length > 0) means.push_back(means_of(iterates, inference::stretches_of_a_run, length));
  }
  if (means.size() < config.intervals.count) return {inference::Verdict::converging, 0, 0};
  return inference::runs_status(means, runs.front().front().estimate.size());
}

/// The status that intervals of checkpoints or of runs depend on.
SeenStatus judged_status(const config::Config& config, const config::JudgedSteps& judged,
                         std::span<const std::span<const ShownRelease>> runs) {
  if (config.intervals.kind == Kind::runs) return status_of_runs(config, judged, runs);
  const std::vector<const ShownRelease*> iterates = judged_iterates(config, judged, runs.front());
  return inference::path_status(batches_of(iterates), dimension_of(iterates));
}

bool is_settled(const std::optional<SeenStatus>& status) {
  return !status || verdict_of(*status) == inference::Verdict::settled;
}

std::string covered(const config::Config& config) {
  if (config.descent.first_stage) {
    return std::string(publish::coverage_statement(publish::BatchMeansIntervals{config.intervals.level, true}));
  }
  return "the minimiser of the clipped loss over this table, not the population parameter";
}

}  // namespace

std::vector<ShownRelease> released_under(const std::string& folder, const std::string& digest) {
  const std::string file = folder + "/releases.jsonl";
  std::ifstream lines(file);
  if (!lines) throw system_failure(Exit::io, "read", file, errno, "restore it");
  std::vector<ShownRelease> path;
  for (std::string line; std::getline(lines, line);) {
    auto release = located(file, [&] { return publish::read_release(line); });
    // A folder may hold releases of other settings, which belong to other estimates.
    if (release && release->digest == digest) path.push_back(std::move(*release));
  }
  return path;
}

std::uint64_t finished_runs(const std::vector<ShownRelease>& path, std::uint64_t steps) {
  return static_cast<std::uint64_t>(std::ranges::count(path, steps, &ShownRelease::step));
}

std::optional<SeenStatus> status_along(const config::Config& config, const std::vector<ShownRelease>& path) {
  const auto judged = config::judged_steps(config);
  // Sums have no path. A cooldown makes the last iterates vary less than those before, which no test here allows for.
  const bool is_plain =
      config.intervals.kind == Kind::none && !config.moments && !config.descent.schedule.cools_down();
  if (path.empty() || !(judged || is_plain)) return std::nullopt;
  const std::vector<std::span<const ShownRelease>> runs = judged_runs(config, path);
  SeenStatus status = judged ? judged_status(config, *judged, runs) : status_of_run(config, runs.front());
  if (config.descent.overshoots) std::visit([](auto& one) { one.verdict = inference::Verdict::diverged; }, status);
  return status;
}

bool has_all_values(const config::Config& config, const std::vector<ShownRelease>& path) {
  return values_along(config, path).size() >= config.intervals.count;
}

inference::Verdict verdict_of(const SeenStatus& status) {
  return std::visit([](const auto& one) { return one.verdict; }, status);
}

std::optional<console::ReportedIntervals> intervals_along(const config::Config& config,
                                                          const std::vector<ShownRelease>& path,
                                                          const std::optional<SeenStatus>& status) {
  const config::Intervals& intervals = config.intervals;
  if (path.empty() || intervals.kind == Kind::none) return std::nullopt;
  if (intervals.kind == Kind::batch_means || intervals.kind == Kind::sandwich || intervals.kind == Kind::residuals) {
    return console::reported_intervals(path.back());
  }
  const std::vector<std::vector<double>> values = values_along(config, path);
  if (values.size() < intervals.count || !is_settled(status)) return std::nullopt;
  const bool runs = intervals.kind == Kind::runs;
  const std::uint64_t last = ends_of_a_run(config).back();
  const std::uint64_t all =
      runs ? intervals.count * config.estimate.steps : config.estimate.steps - intervals.burn_in;
  const std::uint64_t steps = intervals.count * intervals.averaged;  // the other steps only led to these
  console::ReportedIntervals reported{
      runs ? "runs" : "checkpoints", covered(config), intervals.level, steps, last, all < enough_steps, {}, {}};
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
