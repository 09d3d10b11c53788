// Compares the ways to estimate a linear model by their expected errors, which nustream/inference/expected_error.h
// and nustream/moments/expected_error.h compute from the guesses of [plan]. The candidates at their best come from
// config::choose_estimator(), which also serves model.estimator = "auto".
#include "cli/estimator_comparison.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "cli/descent_prediction.h"
#include "config/moments.h"
#include "nustream/base/error.h"
#include "nustream/inference/expected_error.h"
#include "nustream/moments/expected_error.h"
#include "publish/json_writer.h"

namespace nustream::cli {
namespace {

using inference::ExpectedError;

/// Adds what is expected of the descent under the settings of the file. There is a formula for one step size and no
/// momentum; otherwise nothing is added. Where the iterates diverge only this is said: clipping would still give the
/// formula a number, which is an error of nothing that a run would show.
void add_descent(const config::Config& config, const config::Mechanism& mechanism, EstimatorComparison& comparison) {
  const lane::Settings& descent = config.descent;
  std::uint64_t steps = config.problem.records / descent.minibatch;
  if (const auto horizon = mechanism.horizon()) steps = std::min(steps, horizon->value());
  const bool averages = descent.averaging.kind != descent::Averaging::Kind::last && descent.averaging.from < steps;
  if (steps == 0 || !std::holds_alternative<descent::Constant>(descent.schedule.family()) || descent.momentum > 0) {
    return;
  }
  const inference::StreamGuess guess = config::guess_of(config);
  const StepSize step_size{descent.schedule.at(StepIndex{0})};
  comparison.diverges = diverges({guess.eigenvalues, step_size, privacy::Curvature::gaussian_features});
  if (comparison.diverges) return;
  // A step takes the mean gradient of a minibatch, so that the noise of the sum is divided by its size.
  const NoiseStddev stddev{mechanism.main().stddev.value() / static_cast<double>(descent.minibatch)};
  const inference::AverageOver over =
      averages ? inference::span_of(descent.averaging, steps).over : inference::AverageOver{0, steps};
  const inference::DescentErrors errors = inference::expected_errors(
      guess, {mechanism.main().correlation, step_size, descent.clip, stddev, descent.minibatch, over});
  comparison.last = errors.last;
  if (averages) comparison.average = errors.average;
}

/// Adds what is expected of running sums after as many releases as the guessed records make.
void add_sums(const config::Config& config, const config::Mechanism& mechanism, EstimatorComparison& comparison) {
  std::uint64_t releases = config.problem.records / config.descent.minibatch;
  if (const auto horizon = mechanism.horizon()) releases = std::min(releases, horizon->value());
  if (releases == 0) return;
  comparison.sums = moments::expected_error(config::guess_of(config), config::moments_settings(config, mechanism),
                                            StepCount{releases});
}

/// The settings that are best for a candidate. Those of [model] only say which candidate it is, as the row's name
/// does.
std::string settings_of(const config::Candidate& candidate) {
  std::string text;
  for (const std::string& setting : candidate.settings) {
    if (!setting.starts_with("model.")) text += (text.empty() ? "" : " ") + setting;
  }
  return text;
}

/// The error and its three causes as root mean squares. They add up by their squares.
void print_row(const std::string& name, const ExpectedError& error, const std::string& more) {
  fmt::print("  {:<28} {:>9.3g} {:>9.2g} {:>9.2g} {:>9.2g}  {}\n", name, error.root(), std::sqrt(error.start),
             std::sqrt(error.sampling), std::sqrt(error.privacy), more);
}

/// Writes an error and its causes, as print_row() shows them.
void append_error(const ExpectedError& error, publish::JsonWriter& json) {
  json.field("error", error.root());
  json.field("start", std::sqrt(error.start));
  json.field("sampling", std::sqrt(error.sampling));
  json.field("privacy", std::sqrt(error.privacy));
}

/// Writes all candidates at their best, and which of them has the least error and which is taken.
void append_best(const config::EstimatorChoice& best, publish::JsonWriter& json) {
  {
    const auto object = json.object("best");
    for (const config::Candidate& each : best.candidates) {
      const auto candidate = json.object(each.name);
      append_error(each.error, json);
      json.field("settings", settings_of(each));
    }
  }
  json.field("least", best.candidates[best.least].name);
  json.field("taken", best.candidates[best.taken].name);
}

/// What `compare` gives. Nothing where the correlation has no formula, or no error is finite: a plan shows the rest
/// all the same.
template <class Compare>
std::optional<EstimatorComparison> if_possible(const Compare& compare) {
  try {
    return compare();
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<EstimatorComparison> compare_estimators(const config::Config& config,
                                                      const config::Mechanism& mechanism) {
  if (!config::has_guesses(config)) return std::nullopt;
  return if_possible([&] {
    EstimatorComparison comparison{.best = config::choose_estimator(config, {}), .chosen = config.chosen};
    // The file's own settings are of one kind. The candidates are of all.
    config.moments ? add_sums(config, mechanism, comparison) : add_descent(config, mechanism, comparison);
    return comparison;
  });
}

std::optional<EstimatorComparison> compare_table_estimators(config::Config config, std::uint64_t records) {
  config.problem.records = records;
  if (!config::has_guesses(config)) return std::nullopt;
  return if_possible([&] {
    return EstimatorComparison{
        .best = config::choose_table_estimator(config, {}), .of_table = true, .chosen = config.chosen};
  });
}

void print(const EstimatorComparison& comparison) {
  fmt::print(
      "expected error of predictions, root mean square, working units of the target, from the guesses of [plan]\n"
      "  {:<28} {:>9} {:>9} {:>9} {:>9}  best settings\n",
      "", "in all", "start", "sampling", "privacy");
  for (const config::Candidate& each : comparison.best.candidates)
    print_row(each.name, each.error, settings_of(each));
  if (comparison.last) print_row("the last iterate, as set", *comparison.last, {});
  if (comparison.average) print_row("the average, as set", *comparison.average, {});
  if (comparison.sums) print_row("running sums, as set", *comparison.sums, {});
  if (comparison.diverges) {
    fmt::print("  as set: no error can be expected, since descent.step_size is too long and the iterates diverge\n");
  }
  const config::EstimatorChoice& best = comparison.best;
  fmt::print("least: {}{}\n", best.candidates[best.least].name,
             comparison.of_table ? "" : "; the stream is taken for stationary");
  // Where running sums are nearly as good as the best, they are taken: they weigh all records alike, so that drift
  // does not bias them (config::near_tie).
  if (best.taken != best.least) {
    fmt::print("within a factor {:g} of it, all that a prediction is good for, and not biased by drift: {}\n",
               config::near_tie, best.candidates[best.taken].name);
  }
  if (comparison.chosen.empty()) return;
  fmt::print("model.estimator = \"auto\", among what the settings leave open: {}\n", comparison.chosen);
}

// The candidates at their best and the file's own settings are apart: only the latter is what a run would do.
void append_json(const EstimatorComparison& comparison, publish::JsonWriter& json) {
  const auto expected = json.object("expected");
  append_best(comparison.best, json);
  const auto append_one = [&](publish::MemberName name, const std::optional<ExpectedError>& error) {
    if (!error) return;
    const auto object = json.object(name);
    append_error(*error, json);
  };
  {
    const auto as_set = json.object("as_set");
    // Null says that a descent is set of which nothing can be expected.
    if (comparison.diverges) json.field("the last iterate", nullptr);
    append_one("the last iterate", comparison.last);
    append_one("the average", comparison.average);
    append_one("running sums", comparison.sums);
  }
  if (!comparison.chosen.empty()) json.field("chosen", comparison.chosen);
}

}  // namespace nustream::cli
