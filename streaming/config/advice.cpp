// One function for each piece of advice. Each returns its sentence, or "" where there is nothing to say, so that a
// command can list all of them.
#include "config/advice.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "config/judged_steps.h"
#include "nustream/inference/path_status.h"

namespace nustream::config {
namespace {

/// A bound on the loss's second derivative by its prediction; empty where it has none.
std::optional<double> curvature_of(const model::Loss& loss) {
  using Kind = model::Loss::Kind;
  switch (loss.kind) {
    case Kind::mean:
    case Kind::linear:
    // Huber's loss is the squared loss near 0 and has less curvature elsewhere, so that 1 is its bound as well.
    case Kind::huber:
      return 1;
    // p(1 − p) is at most 1/4.
    case Kind::logistic:
      return 0.25;
    // The curvature of the Poisson loss has no bound. The remaining losses get no advice.
    default:
      return std::nullopt;
  }
}

/// What too_few_batches() says of checkpoints and runs.
std::string too_few_iterates(const Config& config) {
  const auto judged = judged_steps(config);
  if (!judged) return {};
  const std::uint64_t every = config.descent.release_every;
  // How many multiples of release.every lie behind `from` and not behind `through`.
  const std::uint64_t released = judged->through / every - judged->from / every;
  if (released >= judged->enough) return {};
  return fmt::format(
      "of steps {} to {} of a run {} iterates are released: fewer than {} never tell whether its path has settled, "
      "so "
      "that no interval is ever shown; take more steps, or a smaller release.every",
      judged->from + 1, judged->through, released, judged->enough);
}

}  // namespace

std::string overshoot(const Config& config) {
  if (config.moments) return {};  // running sums take no steps of a descent
  const std::optional<double> of_loss = curvature_of(config.descent.loss);
  if (!of_loss) return {};
  const std::vector<double>& moments = config.problem.eigenvalues;
  const bool is_assumed = moments.empty() || config.descent.loss.kind == model::Loss::Kind::mean;
  const double largest = is_assumed ? 1 : *std::max_element(moments.begin(), moments.end());
  const double eta = config.descent.schedule.at(StepIndex{0});
  // The penalty adds its strength to the curvature in every direction.
  const double curvature = *of_loss * largest + config.descent.l2;
  const double stable = 2 * (1 + config.descent.momentum);  // of heavy ball: Polyak 1964
  if (eta * curvature < stable) return {};
  return fmt::format(
      "descent.step_size = {:g} steps beyond the minimum, further away each time ({:g} times a curvature of {:g}{} "
      "is {:g} or more): lower it, or scale the features down",
      eta, eta, curvature, is_assumed ? ", for features of size 1," : "", stable);
}

bool surely_overshoots(const Config& config) {
  const lane::Settings& descent = config.descent;
  const bool is_linear = descent.loss.kind == model::Loss::Kind::linear;
  if (config.moments || descent.first_stage || descent.users || config.schema.weight) return false;
  if (!std::holds_alternative<descent::Constant>(descent.schedule.family())) return false;
  if (descent.loss.kind != model::Loss::Kind::mean && !(is_linear && config.schema.intercept)) return false;
  // The largest eigenvalue is at least that of the direction of the intercept, or of the mean.
  return descent.schedule.at(StepIndex{0}) * (1 + descent.l2) >= 2 * (1 + descent.momentum);
}

std::string dotted_member(const Config& config) {
  if (!has_members(config.input)) return {};
  const auto advice = [](const std::string& column) -> std::string {
    // Names that begin with @ are of a message's key, header or time, and no members of its value.
    const bool beside = column.starts_with('@');
    // A pointer is a way through members already.
    if (column.starts_with('/') || beside || column.find('.') == std::string::npos) return {};
    std::string pointer = "/" + column;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    return fmt::format(
        "column '{}': a dot is part of a member's name; for a member inside another one write the JSON pointer '{}'",
        column, pointer);
  };
  // An interaction has a second column, which is looked at where there is nothing to say of the first.
  const auto of = [&](const record::Feature& feature) {
    const std::string first = advice(feature.first.column);
    return first.empty() && feature.second ? advice(feature.second->column) : first;
  };
  for (const record::Feature& feature : config.schema.features) {
    if (std::string found = of(feature); !found.empty()) return found;
  }
  return config.schema.target ? of(*config.schema.target) : std::string();
}

std::string too_few_batches(const Config& config) {
  const auto& batching = config.descent.batching;
  if (config.moments) return {};
  if (!batching) return too_few_iterates(config);
  if (batching->batches >= inference::enough_batches) return {};
  const bool of_table = config.estimate.steps > 0;
  return fmt::format(
      "intervals.{} = {}: fewer than {} batches never tell whether a path has settled, so that no interval is ever "
      "shown; leave it out, or set {} or more",
      of_table ? "count" : "batches", batching->batches, inference::enough_batches, inference::enough_batches);
}

std::string too_few_for_a_step(const Config& config, std::uint64_t records) {
  const std::uint64_t minibatch = config.descent.minibatch;  // of running sums it is release.every
  if (config.estimate.steps > 0 || records == 0 || records >= minibatch) return {};
  return fmt::format("{} record{} fewer than a step takes ({} = {}), so that no step is taken: lower it", records,
                     records == 1 ? " is" : "s are", config.moments ? "release.every" : "descent.minibatch",
                     minibatch);
}

std::string restarts_in_vain(const Config& config) {
  const auto end = config.noise.correlation.horizon();
  if (config.moments || !config.noise.ignores_restarts || !end) return {};
  return fmt::format(
      "noise.restarts = true is ignored, since this correlation has no horizon of its own: each epoch ends after "
      "descent.horizon = {} steps; leave descent.horizon out, or choose a correlation with noise.horizon",
      end->value());
}

std::string unit_is_the_record(const Config& config) {
  if (!config.privacy.ignores_users) return {};
  return "privacy.user or [users] is set, and privacy.unit is \"record\": the promise is about single records, and "
         "weaker for a user who has many; set privacy.unit = \"user\"";
}

}  // namespace nustream::config
