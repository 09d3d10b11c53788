// Computes for one choice of a user's limits what sensitivity, noise and cost follow from it, under the budget of the
// settings. Nothing here reads a record: the guesses of [plan] stand in for the data.
#include "cli/limits_reach.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/sums_reach.h"
#include "nustream/base/error.h"
#include "nustream/inference/average_noise.h"
#include "nustream/inference/average_plan.h"
#include "nustream/privacy/stationary.h"
#include "nustream/privacy/zcdp.h"
#include "nustream/users/sensitivity.h"

namespace nustream::cli {
namespace {

/// Which iterates the answer is made of; empty where there are none in the guessed stream.
struct Quoted {
  std::optional<inference::AverageOver> average{};  ///< else the last iterate
  inference::UserCourse course;
};

/// A last iterate remembers the steps 1/η back, as much as a plain mean over twice as many; so does an exponential
/// average, of its own memory.
std::optional<Quoted> quoted_by(const config::Config& config, double steps) {
  const descent::Averaging& averaging = config.descent.averaging;
  const double step_size = config.descent.schedule.at(StepIndex{0});
  inference::UserCourse course{steps, static_cast<double>(config.descent.minibatch), 0, step_size, true};
  if (averaging.kind == descent::Averaging::Kind::last) {
    course.from = std::max(0.0, steps - 2 / step_size);
    course.averages = false;
    return Quoted{{}, course};
  }
  const auto whole = static_cast<std::uint64_t>(steps);
  if (averaging.from >= whole) return std::nullopt;
  const inference::AverageOver over = inference::span_of(averaging, whole).over;
  course.from = static_cast<double>(over.from);
  if (over.decay < 1) course.from = std::max(course.from, steps - 2 / (1 - over.decay));
  return Quoted{over, course};
}

/// The standard deviation that the noise leaves in a coefficient whose curvature is 1. Records that do not count make
/// the curvature smaller, because a step's sum is divided by all of its records.
std::optional<double> noise_left(const config::Config& config, const Quoted& quoted, double step_noise, double kept) {
  const double curvature = std::min(1.0, kept);
  const double size = quoted.course.step_size;
  try {
    const noise::Correlation& correlation = config.noise.correlation;
    double variance = 0;
    if (quoted.average) {
      inference::AverageOver over = *quoted.average;
      if (const auto horizon = correlation.horizon()) over.steps = std::min(over.steps, horizon->value());
      variance =
          inference::averaged_noise_variance(correlation, {size, curvature, over.from, over.steps, over.decay});
    } else {
      const std::vector<double> curvatures{curvature};
      variance = privacy::stationary_variances(correlation, StepSize{size}, curvatures).front();
    }
    return std::isfinite(variance) ? std::optional(std::sqrt(variance) * step_noise) : std::nullopt;
  } catch (const Unsupported&) {
    return std::nullopt;
  } catch (const InvalidParameter&) {
    return std::nullopt;
  }
}

/// The reach of a descent. Without guesses it ends with the noise of a step, which needs settings alone.
LimitsReach reach_of_descent(const config::Config& config, const users::Limits& limits) {
  const Sensitivity sensitivity = users::sensitivity_limit(config.noise.correlation, limits);
  // Beside a count of clipped gradients, which takes its share first.
  const Rho rho{config::rho_asked(config.privacy).value() * (1 - config.shares.clipped)};
  const NoiseMultiplier sigma = privacy::multiplier_for(sensitivity, rho);
  const Displacement displacement = privacy::displacement(config.descent.clip, config.privacy.adjacency);
  LimitsReach reach{
      limits, sensitivity, noise_stddev(sigma, displacement).value() / static_cast<double>(config.descent.minibatch),
      {},     {},          {}};
  const auto guess = user_guess(config);
  if (!guess) return reach;
  const auto quoted = quoted_by(config, guessed_steps(*guess, config.descent.minibatch));
  if (!quoted) return reach;
  const inference::LimitsCost cost =
      inference::limits_cost(*guess, inference::GradientBound{config.descent.clip.value()}, quoted->course, limits);
  reach.kept = cost.kept;
  // There is no formula for these, so that the share of records that count is all that is told.
  if (config.descent.momentum > 0 || config.descent.schedule.cools_down()) return reach;
  reach.cost = cost;
  reach.predicted = noise_left(config, *quoted, reach.step_noise, cost.quoted);
  return reach;
}

/// The reach of running sums at the end of the guessed stream, or where the noise ends if that is earlier. The sums
/// hold the part of the records that counts. To first order, noise N_H in the mean of xxᵀ and N_g in that of r·x move
/// the solution by N_g − N_H(θ* − θ_c), both divided by that part.
LimitsReach reach_of_sums(const config::Config& config, const users::Limits& limits) {
  config::Config asked = config;
  asked.descent.users = limits;
  const config::Mechanism mechanism = config::make_mechanism(asked, privacy::Participation::once());
  const config::CalibratedStage& target = mechanism.stages.back();
  const moments::Radii& radii = config.moments->stages.front().radii;
  const auto every = static_cast<double>(config.descent.minibatch);
  LimitsReach reach{limits, target.sensitivity, target.stddev.value() * radii.inputs * radii.target / every, {}, {},
                    {}};
  const auto guess = user_guess(config);
  if (!guess) return reach;
  const double steps = guessed_steps(*guess, config.descent.minibatch);
  auto releases = static_cast<std::uint64_t>(steps);
  if (const auto horizon = mechanism.horizon()) releases = std::min(releases, horizon->value());
  reach.cost =
      inference::limits_cost(*guess, inference::SumsBound{radii.inputs, radii.target}, {steps, every}, limits);
  reach.kept = reach.cost->kept;
  const engine::SumsReach sums = engine::sums_reach(asked, mechanism, StepCount{releases});
  reach.predicted = std::hypot(sums.stddev, sums.second * guess->distance) / *reach.kept;
  return reach;
}

}  // namespace

std::optional<double> LimitsReach::error() const {
  if (!predicted || !cost) return std::nullopt;
  return std::hypot(*predicted, cost->root());
}

std::optional<inference::UserGuess> user_guess(const config::Config& config) {
  const config::UserGuesses& guesses = config.guesses;
  if (!guesses.users || !guesses.records) return std::nullopt;
  const double residual = config.problem.residual.value_or(1);
  const auto records = static_cast<double>(*guesses.records);
  return inference::UserGuess{.users = static_cast<double>(*guesses.users),
                              .records = records,
                              .burst = std::min(static_cast<double>(guesses.burst), records),
                              .spread = guesses.spread,
                              .residual = residual,
                              // Half of the variance between users: the deviation is then residual/√2.
                              .deviation = guesses.deviation.value_or(residual / std::numbers::sqrt2),
                              .distance = config.problem.distance.value_or(1),
                              .dimension = static_cast<double>(config.descent.dimension)};
}

double guessed_steps(const inference::UserGuess& guess, std::uint64_t minibatch) {
  // A last minibatch that is not full takes no step.
  return std::max(1.0, std::floor(guess.users * guess.records / static_cast<double>(minibatch)));
}

std::optional<LimitsReach> reach_of(const config::Config& config, const users::Limits& limits) {
  try {
    return config.moments ? reach_of_sums(config, limits) : reach_of_descent(config, limits);
  } catch (const Unsupported&) {
    return std::nullopt;
  } catch (const InvalidParameter&) {
    return std::nullopt;
  }
}

}  // namespace nustream::cli
