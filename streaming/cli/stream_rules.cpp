// Puts a prediction beside what is possible at all: the least excess of any correlation, a bound after the records
// that are asked about, and a clip norm that clips nothing. The formulas are those of nustream/privacy/mean_excess.h
// and nustream/inference/stream_bound.h.
#include "cli/stream_rules.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "cli/plan_parts.h"
#include "config/estimator_choice.h"
#include "console/path_printer.h"
#include "nustream/base/error.h"
#include "nustream/privacy/mean_excess.h"
#include "publish/json_writer.h"

namespace nustream::cli {

namespace {

/// Returns nothing where the correlation has no end or is not Toeplitz, and where it has so many steps that a plan
/// would take seconds.
std::optional<StreamRules::OverHorizon> over_horizon(const config::Mechanism& mechanism,
                                                     const DescentPrediction& prediction) {
  constexpr std::size_t most = 2'000'000;
  const noise::Correlation& correlation = mechanism.main().correlation;
  const auto horizon = correlation.horizon();
  if (!horizon || !correlation.toeplitz() || !std::isfinite(prediction.last.excess)) return std::nullopt;
  // The cost grows with the steps and the eigenvalues.
  if (horizon->value() > most / prediction.problem.eigenvalues.size()) return std::nullopt;
  return StreamRules::OverHorizon{horizon->value(),
                                  privacy::mean_excess(correlation, prediction.problem, prediction.budget, *horizon),
                                  privacy::least_mean_excess(prediction.problem, prediction.budget.rho,
                                                             prediction.budget.displacement, *horizon)};
}

}  // namespace

StreamRules stream_rules(const config::Config& config, const config::Mechanism& mechanism,
                         const DescentPrediction& prediction, std::uint64_t steps) {
  StreamRules rules{};
  // A correlation with an end is calibrated for that end alone. Its stationary error is no average over its steps,
  // and may be below the bound, which is about averages without an end.
  if (!mechanism.horizon() && std::isfinite(prediction.last.excess)) {
    rules.least_excess =
        privacy::least_excess(prediction.problem, prediction.budget.rho, prediction.budget.displacement);
  }
  rules.over_horizon = over_horizon(mechanism, prediction);
  const bool read_once = mechanism.participation.times() == 1;
  const bool is_constant = std::holds_alternative<descent::Constant>(config.descent.schedule.family());
  if (steps == 0 || !read_once || !is_constant || !config::has_guesses(config)) return rules;
  if (const auto horizon = mechanism.horizon()) steps = std::min(steps, horizon->value());
  const inference::StreamGuess guess = config::guess_of(config);
  const double excess = prediction.last.excess;
  rules.steps = steps;
  rules.bound = inference::stream_bound(guess, prediction.problem.step_size, config.descent.minibatch, steps, excess);
  if (!rules.bound) return rules;
  // The sentence that is printed says "in 95% of such streams".
  constexpr double failure = 0.05;
  rules.has_clip = true;
  rules.clip_norm =
      // Noise grows with the clip norm, and its excess with the square, which is divided out.
      inference::stream_clip_norm(guess, rules.bound->sampling, excess / std::pow(config.descent.clip.value(), 2),
                                  steps * config.descent.minibatch, failure);
  return rules;
}

void print(const StreamRules& rules, const DescentPrediction& prediction) {
  // How far the correlation is from the best possible one. Another ν can gain no more than that.
  if (rules.least_excess) {
    fmt::print(
        "no correlation leaves less than {:.6g} on average over a long stream: this one has {:.3g} times that\n",
        *rules.least_excess, prediction.last.excess / *rules.least_excess);
  }
  if (const auto& over = rules.over_horizon) {
    fmt::print(
        "over its {} steps no correlation leaves less than {:.6g} on average: this one leaves {:.6g}, {:.3g} times "
        "that\n",
        console::with_separators(over->steps), over->least, over->mean, over->mean / over->least);
  }
  if (rules.bound) {
    fmt::print(
        "after {} steps at most {:.4g} in all where nothing is clipped: {:.2g} of the start, {:.2g} of sampling, "
        "{:.2g} of the privacy noise\n",
        console::with_separators(rules.steps), rules.bound->total(), rules.bound->start, rules.bound->sampling,
        rules.bound->privacy);
  }
  // Nothing was looked for, since guesses are missing.
  if (!rules.has_clip) return;
  if (rules.clip_norm) {
    fmt::print(
        "clip_norm {:.3g} clips no gradient in 95% of such streams; a smaller one clips some, for less noise\n",
        *rules.clip_norm);
  } else {
    fmt::print("{}\n", no_clip_norm_is_sure);
  }
}

void append_json(const StreamRules& rules, publish::JsonWriter& json) {
  if (rules.least_excess) json.field("least_excess", *rules.least_excess);
  if (rules.over_horizon) {
    const auto over = json.object("over_horizon");
    json.field("steps", rules.over_horizon->steps);
    json.field("mean_excess", rules.over_horizon->mean);
    json.field("least_mean_excess", rules.over_horizon->least);
  }
  if (rules.bound) {
    const auto bound = json.object("bound");
    json.field("steps", rules.steps);
    json.field("excess", rules.bound->total());
    json.field("start", rules.bound->start);
    json.field("sampling", rules.bound->sampling);
    json.field("privacy", rules.bound->privacy);
  }
  if (rules.clip_norm) json.field("clip_norm_without_clipping", *rules.clip_norm);
}

}  // namespace nustream::cli
