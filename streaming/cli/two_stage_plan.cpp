// Step sizes and clip norms for two-stage least squares by gradient descent over a whole table, by the rules of
// nustream/inference/two_stage_rules.h.
#include "cli/two_stage_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "cli/plan_parts.h"
#include "nustream/base/error.h"
#include "nustream/inference/table_descent.h"
#include "publish/json_writer.h"

namespace nustream::cli {
namespace {

// The printed sentences say "95% of tables".
constexpr double failure = 0.05;

/// The rules are about full batches and the linear loss, without controls, and with at least as many instruments as
/// regressors.
bool has_rules(const config::Config& config, const engine::TableDesign& design) {
  const auto& first = config.descent.first_stage;
  const bool linear = config.descent.loss.kind == model::Loss::Kind::linear && !config.moments && !config.users;
  return linear && first && first->shape.controls == 0 && first->shape.instruments >= first->shape.endogenous &&
         design.minibatch == design.rows;
}

/// The guesses of [plan] as the rules take them. Singular values are the roots of the eigenvalues that are set.
inference::TwoStageGuess guess_of(const config::Config& config, std::uint64_t records) {
  const descent::TwoStageShape& shape = config.descent.first_stage->shape;
  // They are squares of singular values between variables of variance 1, so that none is above 1.
  const std::vector<double>& squares = config.problem.eigenvalues;
  const auto [least, most] = std::ranges::minmax(squares);
  // The part of a regressor's variance that the instruments tell; the first stage's residual has the rest of 1.
  const double told = std::accumulate(squares.begin(), squares.end(), 0.0) / static_cast<double>(squares.size());
  return {shape.instruments,   shape.endogenous,         std::sqrt(least),         std::sqrt(most),
          std::sqrt(1 - told), *config.problem.residual, *config.problem.distance, records};
}

/// The variance that one unit of clip norm leaves in an entry, along a direction of this curvature.
double noise_left(const config::CalibratedStage& noise, const descent::Schedule& schedule, double curvature,
                  double clip, const engine::TableDesign& design) {
  // Of the mean gradient, and for a clip norm of 1.
  const double stddev = noise.stddev.value() / static_cast<double>(design.minibatch) / clip;
  return inference::last_iterate(noise.correlation, schedule, curvature, 0, design.steps).noise_variance * stddev *
         stddev;
}

}  // namespace

std::optional<TwoStagePlan> two_stage_plan(const config::Config& config, const config::Mechanism& mechanism,
                                           const engine::TableDesign& design) {
  const bool is_guessed = config.problem.residual && config.problem.distance && !config.problem.eigenvalues.empty();
  if (!has_rules(config, design) || !is_guessed) return {};
  const lane::FirstStage& first = *config.descent.first_stage;
  const inference::TwoStageGuess guess = guess_of(config, design.rows);
  TwoStagePlan plan{inference::two_stage_conditions(guess, failure),
                    first.schedule.at(StepIndex{0}),
                    config.descent.schedule.at(StepIndex{0}),
                    0,
                    first.clip.has_value(),
                    {}};
  plan.contraction = inference::contraction(plan.conditions, plan.eta, plan.alpha);
  // Without clip norms there is nothing to suggest about them.
  if (!plan.has_clips) return plan;
  try {
    // No eigenvalue of ZᵀZ/n is below (1 − δ)².
    const double flattest = std::pow(std::max(0.0, 1 - plan.conditions.delta), 2);
    const inference::TwoStageNoise noise{
        noise_left(mechanism.stages[1], first.schedule, flattest, first.clip->value(), design),
        noise_left(mechanism.main(), config.descent.schedule, plan.conditions.least / 2, config.descent.clip.value(),
                   design)};
    plan.clips = inference::two_stage_clips(guess, noise, design.steps, failure);
  } catch (const Unsupported&) {
    plan.has_clips = false;  // they take too long to compute for a plan
  }
  return plan;
}

std::string step_size_advice(const TwoStagePlan& plan) {
  // The step sizes contract for sure, and need no advice.
  if (plan.contraction < 1) return {};
  return fmt::format(
      "two stages are sure to contract at first_stage.step_size below {:.3g} and descent.step_size below {:.3g}{}",
      plan.conditions.eta_max, plan.conditions.alpha_max,
      plan.conditions.least > 0 ? std::string()
                                : "; with so few records so weak a first stage may not contract at any step size");
}

void print(const TwoStagePlan& plan) {
  const inference::TwoStageConditions& conditions = plan.conditions;
  fmt::print(
      "\ntwo stages, where instruments and regressors have variance 1 and instruments are uncorrelated; for 95% of "
      "tables\n");
  fmt::print("  first_stage.step_size {:g}: contracts below {:.3g}, fastest at {:.3g}\n", plan.eta,
             conditions.eta_max, conditions.eta);
  fmt::print("  descent.step_size {:g}: contracts below {:.3g}, fastest at {:.3g}\n", plan.alpha,
             conditions.alpha_max, conditions.alpha);
  if (plan.contraction < 1) {
    fmt::print("  of the start {:.3g} is left after a step, or less, once the first stage is near\n",
               plan.contraction);
  }
  // Where none is sure to clip nothing, the last sentence says so; where none was looked for, nothing is said.
  if (plan.clips) {
    fmt::print(
        "  clip_norm {:.3g} (first stage) and {:.3g} clip no gradient; smaller ones clip some, for less noise\n",
        plan.clips->first, plan.clips->second);
  } else if (plan.has_clips) {
    fmt::print("  {}\n", no_clip_norm_is_sure);
  }
}

void append_json(const TwoStagePlan& plan, publish::JsonWriter& json) {
  const auto object = json.object("two_stages");
  json.field("first_step_size_below", plan.conditions.eta_max);
  json.field("step_size_below", plan.conditions.alpha_max);
  json.field("first_step_size_fastest", plan.conditions.eta);
  json.field("step_size_fastest", plan.conditions.alpha);
  json.field("contraction", plan.contraction);
  if (!plan.clips) return;
  json.field("first_clip_norm_without_clipping", plan.clips->first);
  json.field("clip_norm_without_clipping", plan.clips->second);
}

}  // namespace nustream::cli
