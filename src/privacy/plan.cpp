// What a plan predicts from public settings alone: the table of spends, the noise that a budget allows, the error
// that this noise leaves (stationary.cpp), and the ν that would leave the least.
#include "nustream/privacy/plan.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "nustream/base/error.h"
#include "nustream/privacy/optimised_descent.h"
#include "nustream/privacy/sensitivity.h"

namespace nustream::privacy {
namespace {

Rho spent(const Spend& spend, std::optional<StepCount> steps) {
  return steps ? spend.after(*steps) : spend.limit();
}

/// `spend` is that of all mechanisms, and `first` that of the first one alone, whose sensitivity is shown.
SpendRow row(const Spend& spend, const Spend& first, std::optional<StepCount> steps, Delta delta,
             Conversion conversion) {
  const Rho rho = spent(spend, steps);
  // The sensitivity is read back from ρ = sens²/(2σ²) of the first mechanism, so that the row cannot disagree with
  // its ρ.
  const Sensitivity sensitivity{std::sqrt(2 * spent(first, steps).value()) * spend.sigma().value()};
  return {steps, sensitivity, rho, epsilon(rho, delta, conversion)};
}

/// Exact ν-FTRL for one participation. For several, the exact family would need a long table of its column, so a
/// rational correlation takes its place, with so many poles that it equals the exact one to rounding.
noise::Correlation nu_ftrl(Damping nu, const Participation& participation) {
  constexpr std::size_t exact_to_rounding = 40;  // poles; docs/notation.md names the symbols
  if (participation.times() == 1) return noise::Correlation{noise::NuFtrl{nu, {}}};
  return noise::Correlation{noise::Rational::nu_ftrl(nu, exact_to_rounding)};
}

/// Any budget serves for a comparison, since both sides scale with it.
Budget unit_budget(const Participation& participation) {
  return {Rho{0.5}, participation, Displacement{1}};
}

/// The place in [low, high] where a function with one valley is lowest, by golden-section search. It is accurate
/// to 1e-6 of the interval.
double lowest_place(const std::function<double(double)>& function, double low, double high) {
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  const double narrow = 1e-6 * (high - low);
  double left = high - ratio * (high - low);
  double right = low + ratio * (high - low);
  double at_left = function(left);
  double at_right = function(right);
  while (high - low > narrow) {
    if (at_left < at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - ratio * (high - low);
      at_left = function(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + ratio * (high - low);
      at_right = function(right);
    }
  }
  return (low + high) / 2;
}

bool all_equal(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
}

}  // namespace

std::vector<SpendRow> spend_table(const Spend& spend, Delta delta, Conversion conversion,
                                  std::optional<StepCount> also) {
  const std::optional<StepCount> horizon = spend.horizon();
  const Spend first = spend.alone();
  std::set<std::uint64_t> counts;
  for (std::uint64_t steps = 1'000; steps <= 1'000'000'000; steps *= 10) counts.insert(steps);
  if (also && also->value() > 0) counts.insert(also->value());
  std::vector<SpendRow> rows;
  for (const std::uint64_t steps : counts) {
    // The row of the horizon comes below, and there are no steps behind it.
    if (horizon && steps >= horizon->value()) break;
    rows.push_back(row(spend, first, StepCount{steps}, delta, conversion));
  }
  try {
    rows.push_back(row(spend, first, horizon, delta, conversion));
  } catch (const Unsupported&) {
    // There is no limit, or none is known. The rows of finite steps are then the whole plan.
  }
  return rows;
}

NoiseStddev calibrated_stddev(const noise::Correlation& correlation, const Budget& budget) {
  const Sensitivity sensitivity = sensitivity_limit(correlation, budget.participation);
  return noise_stddev(multiplier_for(sensitivity, budget.rho), budget.displacement);
}

double predicted_excess(const noise::Correlation& correlation, const LocalProblem& problem, const Budget& budget) {
  return stationary_excess(correlation, problem, calibrated_stddev(correlation, budget));
}

double least_excess(const LocalProblem& problem, Rho rho, Displacement displacement) {
  // γ²·excess for noise of variance 1, and σ² = γ²/(2ρ).
  return least_descent_loss(problem) * displacement.value() * displacement.value() / (2 * rho.value());
}

Damping suggested_nu(const LocalProblem& problem, const Participation& participation) {
  if (problem.eigenvalues.empty()) throw InvalidParameter("eigenvalues", "none", "one for each coordinate");
  // CDP+ Theorem 2.1 for the mean, where λ = 1: the best ν is η. In any problem with one eigenvalue it is ηλ.
  const double contraction = problem.step_size.value() * problem.eigenvalues.front();
  if (participation.times() == 1 && all_equal(problem.eigenvalues) && contraction < 1) return Damping{contraction};
  // Where the second moment diverges, it does so for every ν and by the same factor, so the variances P_j alone
  // decide.
  LocalProblem linear = problem;
  linear.curvature = Curvature::fixed;
  const auto excess = [&](double log_nu) {
    const noise::Correlation correlation = nu_ftrl(Damping{std::exp(log_nu)}, participation);
    const double exact = predicted_excess(correlation, problem, unit_budget(participation));
    return std::isfinite(exact) ? exact : predicted_excess(correlation, linear, unit_budget(participation));
  };
  // A grid comes first: the valley is wide, but the curve is flat far from it, and a local search would stop
  // there.
  constexpr int cells = 48;
  const double lowest = std::log(1e-8);
  const double highest = std::log(0.95);
  const double cell = (highest - lowest) / cells;
  int best = 0;
  double smallest = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= cells; ++i) {
    const double here = excess(lowest + i * cell);
    if (here < smallest) {
      smallest = here;
      best = i;
    }
  }
  // The valley lies between the two neighbours of the best place of the grid.
  const double low = lowest + std::max(best - 1, 0) * cell;
  const double high = lowest + std::min(best + 1, cells) * cell;
  return Damping{std::exp(lowest_place(excess, low, high))};
}

double relative_excess(const noise::Correlation& correlation, const noise::Correlation& exact,
                       const LocalProblem& problem, const Participation& participation) {
  const Budget budget = unit_budget(participation);
  return predicted_excess(correlation, problem, budget) / predicted_excess(exact, problem, budget) - 1;
}

Prediction predict(const noise::Correlation& correlation, const LocalProblem& problem, const Budget& budget) {
  const NoiseStddev seed = calibrated_stddev(correlation, budget);
  const Damping suggested = suggested_nu(problem, budget.participation);
  std::vector<double> stddevs = stationary_variances(correlation, problem.step_size, problem.eigenvalues);
  for (double& entry : stddevs) entry = std::sqrt(entry) * seed.value();
  // The noise of the two comparisons is scaled for the same budget, each with its own sensitivity.
  return {stationary_excess(correlation, problem, seed),
          suggested,
          predicted_excess(nu_ftrl(suggested, budget.participation), problem, budget),
          predicted_excess(noise::Correlation{noise::Independent{}}, problem, budget),
          seed,
          noise::largest_stddev(correlation) * seed.value(),
          stddevs};
}

}  // namespace nustream::privacy
