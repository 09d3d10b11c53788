#include "cli/users_plan.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engine/sums_reach.h"
#include "nustream/base/error.h"
#include "nustream/privacy/stationary.h"
#include "nustream/privacy/zcdp.h"
#include "nustream/users/period.h"
#include "nustream/users/sensitivity.h"
#include "publish/json_writer.h"
#include "publish/promise.h"

namespace nustream::cli {
namespace {

/// What users are guessed to do, counted in steps.
struct Pattern {
  double steps;    ///< T that all records make together
  double touched;  ///< how many of the T steps have a record of one user, if no limit holds: J
};

/// R records of a user come in bursts of B. Each burst falls into ⌈B/m⌉ steps anywhere in the stream. So a user
/// touches J = T(1 − (1 − 1/T)^n) steps, where n = ⌈B/m⌉·R/B.
std::optional<Pattern> pattern_of(const config::Config& config) {
  const config::UserGuesses& guesses = config.guesses;
  if (!guesses.users || !guesses.records) return std::nullopt;
  const auto records = static_cast<double>(*guesses.records);
  const auto minibatch = static_cast<double>(config.descent.minibatch);
  const auto burst = std::min(static_cast<double>(guesses.burst), records);
  const double steps = std::max(1.0, static_cast<double>(*guesses.users) * records / minibatch);
  const double visits = std::ceil(burst / minibatch) * records / burst;
  const double touched = steps > 1 ? -steps * std::expm1(visits * std::log1p(-1 / steps)) : 1;
  return Pattern{steps, std::max(1.0, touched)};
}

/// The share of a user's contributions that the limits keep. After a contribution b − 1 steps pass, and then T/J more
/// until the user's next record. So there is one contribution every b − 1 + T/J steps, and at most k of them. A
/// contribution as long as the clip norm uses 1 of the mass W.
double kept_by(const users::Limits& limits, const Pattern& pattern) {
  double contributions = pattern.touched;
  if (const auto& participation = limits.participation()) {
    const double apart = static_cast<double>(participation->separation()) - 1 + pattern.steps / pattern.touched;
    contributions = std::min({contributions, pattern.steps / apart, static_cast<double>(participation->times())});
  }
  if (limits.mass()) contributions = std::min(contributions, limits.mass()->value());
  return contributions / pattern.touched;
}

/// The standard deviation in a coordinate whose curvature is 1. Records that do not count make the curvature smaller,
/// because a step's sum is divided by all of its records.
std::optional<double> stddev_of(const config::Config& config, double step_noise, double kept) {
  if (config.descent.momentum > 0 || config.descent.schedule.cools_down()) return std::nullopt;
  const StepSize step{config.descent.schedule.at(StepIndex{0})};
  try {
    const std::vector<double> curvature{std::min(1.0, kept)};
    const double variance = privacy::stationary_variances(config.noise.correlation, step, curvature).front();
    return std::isfinite(variance) ? std::optional(std::sqrt(variance) * step_noise) : std::nullopt;
  } catch (const Unsupported&) {
    return std::nullopt;
  } catch (const InvalidParameter&) {
    return std::nullopt;
  }
}

/// The reach of running sums at the end of the guessed stream, or where the noise ends if that is earlier. The sums
/// contain only the share of the records that the limits keep.
LimitsReach reach_of_sums(const config::Config& config, const users::Limits& limits,
                          const std::optional<Pattern>& pattern) {
  config::Config asked = config;
  asked.descent.users = limits;
  const config::Mechanism mechanism = config::make_mechanism(asked, privacy::Participation::once());
  const config::StageNoise& target = mechanism.stages.back();
  const moments::Radii& radii = config.moments->stages.front().radii;
  const auto every = static_cast<double>(config.descent.minibatch);
  LimitsReach reach{limits, target.sensitivity, target.stddev.value() * radii.inputs * radii.target / every, {}, {}};
  if (!pattern) return reach;
  auto releases = static_cast<std::uint64_t>(pattern->steps);
  if (const auto horizon = mechanism.horizon()) releases = std::min(releases, horizon->value());
  reach.kept = kept_by(limits, *pattern);
  reach.predicted = engine::sums_reach(asked, mechanism, StepCount{releases}).stddev / *reach.kept;
  return reach;
}

std::optional<LimitsReach> reach_of(const config::Config& config, const users::Limits& limits,
                                    const std::optional<Pattern>& pattern) {
  try {
    if (config.moments) return reach_of_sums(config, limits, pattern);
    const Sensitivity sensitivity = users::sensitivity_limit(config.noise.correlation, limits);
    // Beside a count of clipped gradients, which takes its share first.
    const Rho rho{config::rho_asked(config.privacy).value() * (1 - config.shares.clipped)};
    const NoiseMultiplier sigma = privacy::multiplier_for(sensitivity, rho);
    const Displacement displacement = privacy::displacement(config.descent.clip, config.privacy.adjacency);
    LimitsReach reach{limits,
                      sensitivity,
                      noise_stddev(sigma, displacement).value() / static_cast<double>(config.descent.minibatch),
                      {},
                      {}};
    if (!pattern) return reach;
    reach.kept = kept_by(limits, *pattern);
    reach.predicted = stddev_of(config, reach.step_noise, *reach.kept);
    return reach;
  } catch (const Unsupported&) {
    return std::nullopt;
  } catch (const InvalidParameter&) {
    return std::nullopt;
  }
}

/// Limits to compare with: counts, each also with the separation that spreads it over the guessed stream, and masses.
std::vector<users::Limits> sizes(const std::optional<Pattern>& pattern,
                                 const std::optional<users::Windows>& windows) {
  std::vector<users::Limits> sizes;
  for (const std::uint64_t times : {1U, 4U, 16U, 64U}) {
    sizes.emplace_back(privacy::Participation{times, 1}, std::nullopt, windows);
    if (!pattern || times == 1) continue;
    const auto apart = static_cast<std::uint64_t>(pattern->steps / static_cast<double>(times));
    if (apart > 1) sizes.emplace_back(privacy::Participation{times, apart}, std::nullopt, windows);
  }
  for (const double mass : {1.0, 4.0, 16.0}) sizes.emplace_back(std::nullopt, Mass{mass}, windows);
  return sizes;
}

}  // namespace

UsersPlan users_plan(const config::Config& config) {
  const std::optional<Pattern> pattern = pattern_of(config);
  UsersPlan plan;
  const auto add = [&](const users::Limits& limits) {
    if (const auto reach = reach_of(config, limits, pattern)) plan.reach.push_back(*reach);
  };
  add(*config.descent.users);
  for (const users::Limits& limits : sizes(pattern, config.descent.users->windows())) {
    if (limits != *config.descent.users) add(limits);
  }
  if (config.descent.users->windows()) {
    const Rho limit = config::rho_asked(config.privacy);
    for (const std::uint64_t windows : {1U, 2U, 4U, 12U}) {
      plan.over.push_back({windows, users::over_windows(limit, windows)});
    }
  }
  if (!pattern) {
    plan.advice.emplace_back(
        "guess plan.users and plan.user_records (public figures) to see which share of the records each choice "
        "keeps");
  }
  if (!config.kafka.brokers.empty() && config.users->column != config::key_column) {
    plan.advice.emplace_back(
        "privacy.user is not \"@key\": of a topic with N partitions whose records are not keyed by the user, "
        "(N - 1)/N count for nothing when it is attached, since a user counts in one partition alone; key the "
        "records by the user, and set privacy.user = \"@key\"");
  }
  if (config.descent.minibatch == 1) {
    plan.advice.emplace_back(
        "descent.minibatch = 1: a user's records are one contribution where they fall into one step; in minibatches "
        "of "
        "1,000 many more of them count under the same limits");
  }
  return plan;
}

void print(const UsersPlan& plan) {
  fmt::print("{:<44}  {:>11}  {:>15}  {:>7}  {:>16}\n", "limits of a user", "sensitivity", "noise of a step", "kept",
             "left in an entry");
  for (const LimitsReach& one : plan.reach) {
    fmt::print("{:<44}  {:>11.6g}  {:>15.4g}  {:>7}  {:>16}{}\n", publish::words_of(one.limits),
               one.sensitivity.value(), one.step_noise, one.kept ? fmt::format("{:.1f}%", 100 * *one.kept) : "-",
               one.predicted ? fmt::format("{:.4g}", *one.predicted) : "-",
               &one == plan.reach.data() ? "  <- [users]" : "");
  }
  fmt::print(
      "(kept: of the records, where contributions are as long as their bound; left in an entry: standard deviation "
      "from "
      "the noise alone, curvature 1. What is estimated is the model of the records that count.)\n");
  if (!plan.over.empty()) {
    fmt::print(
        "the promise is about a user's records within one window; a user with records in several windows is promised "
        "at most");
    for (const UsersPlan::OverWindows& over : plan.over) {
      if (over.windows > 1) fmt::print(" rho {:g} in {} windows,", over.rho.value(), over.windows);
    }
    fmt::print(" P^2 rho in P\n");
  }
  for (const std::string& sentence : plan.advice) fmt::print("{}\n", sentence);
}

void append_json(const UsersPlan& plan, publish::JsonWriter& json) {
  {
    const auto limits = json.array("limits");
    for (const LimitsReach& one : plan.reach) {
      const auto object = json.object();
      json.field("sensitivity", one.sensitivity.value());
      publish::append_limits(one.limits, json);
      json.field("step_noise", one.step_noise);
      if (one.kept) json.field("kept", *one.kept);
      if (one.predicted) json.field("predicted_stddev", *one.predicted);
    }
  }
  if (plan.over.empty()) return;
  const auto windows = json.array("windows");
  for (const UsersPlan::OverWindows& over : plan.over) {
    const auto object = json.object();
    json.field("windows", over.windows);
    json.field("rho", over.rho.value());
  }
}

}  // namespace nustream::cli
