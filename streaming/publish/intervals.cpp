// Makes the three kinds of intervals from what a release holds, and says in words what each of them covers. They
// are post-processing: batch means, second moments and sums are private already. An interval is withheld where
// the path has not settled.
#include "publish/intervals.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "nustream/base/error.h"
#include "nustream/inference/long_run.h"
#include "nustream/inference/swing.h"

namespace nustream::publish {
namespace {

// With fewer steps, intervals of batches and checkpoints cover less often than they say: BDE+ section 5, measured
// again in docs.
constexpr std::uint64_t enough_steps = 200;

/// Intervals from batch means. The means are converted to original units first, since an interval is about one
/// coefficient as it is shown.
std::optional<ShownIntervals> by_batches(const BatchMeansIntervals& kind, const lane::Release& release,
                                         const OriginalUnits& units) {
  const std::size_t d = release.theta.size();
  const std::size_t count = release.batch_means.size() / d;
  std::vector<std::vector<double>> values(units.names().size());
  std::vector<double> converted;
  for (std::size_t batch = 0; batch < count; ++batch) {
    units.convert(release.batch_means.subspan(batch * d, d), converted);
    for (std::size_t j = 0; j < converted.size(); ++j) values[j].push_back(converted[j]);
  }
  // Steps behind the last complete batch are in no mean, so that `through` may lie before the release's own step.
  const std::uint64_t steps = count * release.batch_length;
  ShownIntervals shown{{}, steps, release.batches_through.value(), count, steps < enough_steps};
  for (const std::vector<double>& of_one : values)
    // A path that has settled has 32 batches at least (inference::path_status()), so that there is an interval.
    shown.of.push_back(*inference::long_run_interval(of_one, kind.level));
  return shown;
}

/// The variances of the average. Empty where noise hides the second moments. It is empty also where the correlation
/// has no recurrence and the average is so long that the noise left in it is not computed.
std::optional<std::vector<inference::EstimatedVariance>> variances_of(const SandwichIntervals& kind,
                                                                      const lane::Release& release,
                                                                      const OriginalUnits& units) {
  const std::size_t d = release.theta.size();
  try {
    return inference::average_variances(descent::symmetric_matrix(release.bread, d),
                                        descent::symmetric_matrix(release.meat, d), kind.design, release.steps,
                                        units.linear_part());
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

std::optional<ShownIntervals> by_sandwich(const SandwichIntervals& kind, const lane::Release& release,
                                          const OriginalUnits& units) {
  // The interval is around the average. Without second moments there is no variance for it.
  if (release.average.empty() || release.moment_steps == 0) return std::nullopt;
  const auto variances = variances_of(kind, release, units);
  if (!variances) return std::nullopt;
  std::vector<double> center;
  units.convert(release.average, center);
  ShownIntervals shown{{}, release.moment_steps, release.steps.value(), 0, release.moment_steps < enough_steps};
  for (std::size_t i = 0; i < center.size(); ++i) {
    const auto& [variance, freedom] = (*variances)[i];
    // Student's t instead of the normal: the variance was itself estimated from noisy moments.
    shown.of.push_back({center[i], inference::student_quantile(freedom, kind.level) * std::sqrt(variance)});
  }
  return shown;
}

}  // namespace

std::string_view coverage_statement(const IntervalKind& kind) noexcept {
  if (const auto* batches = std::get_if<BatchMeansIntervals>(&kind)) {
    if (batches->two_stage) {
      return "the point that the iterates gather around: where the clipped gradients of both stages balance, which "
             "the "
             "first stage's noise draws towards zero; not the two-stage least squares of the table or the population";
    }
    return "the point that the iterates of these steps gather around: the minimiser of the clipped loss over their "
           "records, not the population parameter";
  }
  // What is left are sandwich intervals of a descent, and intervals of running sums with or without forgetting.
  const auto* sums = std::get_if<MomentIntervals>(&kind);
  if (sums != nullptr && sums->forgets) {
    return "the least squares parameter of rows scaled to moments.row_norm and residuals clipped to "
           "moments.residual_bound, for independent records of one population, as long as it does not change within "
           "the records that the sums remember";
  }
  if (sums != nullptr) {
    return "the population's least squares parameter of rows scaled to moments.row_norm and residuals clipped to "
           "moments.residual_bound, for records that are independent of each other";
  }
  return "the population's least squares parameter, if records come in no order from one population, clipping is "
         "rare and the start is forgotten";
}

std::string_view name(const IntervalKind& kind) noexcept {
  if (const auto* sums = std::get_if<MomentIntervals>(&kind)) return sums->sandwich ? "sandwich" : "residuals";
  // A descent and running sums both have sandwich intervals, under one name.
  return std::holds_alternative<BatchMeansIntervals>(kind) ? "batch-means" : "sandwich";
}

double level(const IntervalKind& kind) noexcept {
  return std::visit([](const auto& one) { return one.level; }, kind);
}

std::optional<ShownIntervals> intervals_of(const IntervalKind& kind, const lane::Release& release,
                                           const std::optional<inference::PathStatus>& status,
                                           const OriginalUnits& units) {
  // On a path that still moves, batch means differ by the movement, which an interval would take for noise, and the
  // average is no estimate of the point that it is said to cover.
  if (!may_show_intervals(release, status)) return std::nullopt;
  if (const auto* batches = std::get_if<BatchMeansIntervals>(&kind)) return by_batches(*batches, release, units);
  // A release of iterates is never asked for intervals of sums: the settings fix the kind with the estimator.
  return by_sandwich(std::get<SandwichIntervals>(kind), release, units);
}

std::optional<ShownIntervals> intervals_of(const MomentIntervals& kind, const moments::Release& release,
                                           const OriginalUnits& units) {
  // The lane has withheld them: noise hides the sums, or the path has not settled.
  if (release.variances.empty()) return std::nullopt;
  std::vector<double> center;
  units.convert(release.theta, center);
  NUSTREAM_REQUIRE(center.size() == release.variances.size(), "a variance for every coefficient that is shown");
  // The lane withholds variances where there is too little for any, so that there is no warning of too few steps.
  ShownIntervals shown{{}, release.steps.value(), release.steps.value(), 0, false};
  for (std::size_t i = 0; i < center.size(); ++i) {
    const auto& [variance, freedom] = release.variances[i];
    shown.of.push_back({center[i], inference::student_quantile(freedom, kind.level) * std::sqrt(variance)});
  }
  return shown;
}

namespace {

bool is_finite(const lane::Release& release) {
  return std::ranges::all_of(release.theta, [](double entry) { return std::isfinite(entry); });
}

/// The means of the pairs of a trail, in which steps to and fro cancel.
std::vector<double> means_of_pairs(std::span<const double> trail, std::size_t d) {
  std::vector<double> means;
  for (std::size_t pair = 0; pair < trail.size(); pair += 2 * d) {
    for (std::size_t j = 0; j < d; ++j) means.push_back(0.5 * (trail[pair + j] + trail[pair + d + j]));
  }
  return means;
}

/// What the tests see of the path.
inference::PathStatus tested(const lane::Release& release) {
  const std::size_t d = release.theta.size();
  if (release.trail_distance == 0) return inference::path_status(release.batch_means, d);
  if (release.batch_length > 0) return inference::swinging_status(release.batch_means, release.trail, d);
  return inference::swinging_status(means_of_pairs(release.trail, d), release.trail, d);
}

}  // namespace

std::optional<inference::PathStatus> status_of(const lane::Release& release) {
  if (release.batch_length == 0 && release.trail_distance == 0) return std::nullopt;
  inference::PathStatus status = tested(release);
  // Where clipping alone holds an iterate back, or noise is as large as its steps, its path looks like any other one.
  if (release.overshoots || !is_finite(release)) status.verdict = inference::Verdict::diverged;
  return status;
}

const std::optional<inference::PathStatus>& ReleaseStatus::of(const lane::Release& release) {
  const Seen now{release.trail.size(), release.trail_distance, release.batches_through, is_finite(release)};
  if (seen_ != now) status_ = status_of(release);
  seen_ = now;
  return status_;
}

bool may_show_intervals(const lane::Release& release, const std::optional<inference::PathStatus>& status) {
  if (release.overshoots) return false;  // whether or not the release tells its status
  // Without batch means nothing is known of the path, and an interval is not withheld for that.
  return !status || status->verdict == inference::Verdict::settled;
}

namespace {

struct Figure {
  MemberName key;
  double value;
};

/// Writes the object of a status, of which each kind has figures of its own.
void append_figures(inference::Verdict verdict, std::initializer_list<Figure> figures, double false_alarm,
                    JsonWriter& json) {
  const auto object = json.object("status");
  json.field("verdict", inference::name(verdict));
  for (const auto& [key, value] : figures) json.field(key, value);
  json.field("false_alarm", false_alarm);
}

}  // namespace

void append_status(const inference::PathStatus& status, JsonWriter& json) {
  const Figure trend{"trend", status.trend};
  const Figure halves{"halves", status.halves};
  const Figure ends{"ends", status.ends};
  const Figure memory{"memory", status.memory};
  if (status.swing) {
    append_figures(status.verdict, {trend, halves, ends, memory, {"swing", *status.swing}}, status.false_alarm, json);
  } else {
    append_figures(status.verdict, {trend, halves, ends, memory}, status.false_alarm, json);
  }
}

void append_status(const moments::SumsStatus& status, JsonWriter& json) {
  append_figures(status.verdict, {{"halves", status.halves}, {"ends", status.ends}}, status.false_alarm, json);
}

void append_status(const inference::RunsStatus& status, JsonWriter& json) {
  append_figures(status.verdict, {{"trend", status.trend}, {"memory", status.memory}}, status.false_alarm, json);
}

std::string in_words(std::string_view verdict, bool asks_interval) {
  if (verdict == "settled") return "the path has settled: nothing is seen to move";
  if (verdict == "converging") {
    return std::string("the path still converges, or is too short to tell") +
           (asks_interval ? ": there is no interval yet" : "");
  }
  if (verdict == "drifting") {
    return std::string("the path drifts: the estimate goes on moving") +
           (asks_interval ? ", and there is no interval" : "");
  }
  if (verdict == "diverged") return "the path has diverged: these numbers are no answer; take a smaller step size";
  return {};
}

bool is_warning(std::string_view verdict) noexcept {
  return verdict == "drifting" || verdict == "diverged";
}

}  // namespace nustream::publish
