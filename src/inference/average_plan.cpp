// What privacy noise does to an average, per eigenvector, and searches over ν for the least loss. All of it is
// arithmetic on public guesses.
#include "nustream/inference/average_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "inference/symmetric.h"
#include "nustream/base/error.h"
#include "nustream/inference/average_noise.h"
#include "nustream/noise/rational.h"
#include "nustream/privacy/sensitivity.h"

namespace nustream::inference {
namespace {

using privacy::Curvature;
using privacy::LocalProblem;

/// The stationary second moment m of the iterate along each eigenvector, computed from `without`, the P without the
/// noise that x xᵀ multiplies in; and Σ λ_k m_k. Infinite where it diverges (privacy/stationary.h has the sum).
struct SecondMoment {
  std::vector<double> along;
  double trace;
};

SecondMoment second_moment(const LocalProblem& problem, const std::vector<double>& without) {
  double driven = 0;
  double fed_back = 0;
  for (std::size_t j = 0; j < without.size(); ++j) {
    const double contraction = problem.step_size.value() * problem.eigenvalues[j];
    // Σ λ_k m_k appears on both sides of the stationary equation: driven by the correlated noise, and fed back by x
    // xᵀ. So it is driven/(1 − fed back).
    driven += (2 - contraction) * problem.eigenvalues[j] * without[j] / (2 * (1 - contraction));
    fed_back += contraction / (2 * (1 - contraction));
  }
  SecondMoment moment{without, fed_back < 1 ? driven / (1 - fed_back) : std::numeric_limits<double>::infinity()};
  for (std::size_t j = 0; j < without.size(); ++j) {
    const double contraction = problem.step_size.value() * problem.eigenvalues[j];
    moment.along[j] =
        ((2 - contraction) * without[j] + problem.step_size.value() * moment.trace) / (2 * (1 - contraction));
  }
  return moment;
}

constexpr double least_nu = 1e-10;

/// The ν with this logarithm. Rounding never takes it below the least ν.
Damping damping_at(double log_nu) {
  return Damping{std::max(std::exp(log_nu), least_nu)};
}

/// γ_∞² Σ λ V of the average. The noise that x xᵀ multiplies in is left out, as it hardly moves the best ν.
double loss_at(double log_nu, const std::vector<EigenvalueGroup>& groups, StepSize step_size, const AverageOver& over,
               const privacy::Participation& participation) {
  const noise::Correlation correlation{noise::Rational::nu_ftrl(damping_at(log_nu))};
  double loss = 0;
  for (const EigenvalueGroup& group : groups) {
    const AveragedDescent descent{step_size.value(), group.eigenvalue, over.from, over.steps, over.decay};
    loss += group.count * group.eigenvalue * averaged_noise_variance(correlation, descent);
  }
  // At one budget σ grows with the sensitivity, so the noise's variance is this loss up to a factor that no ν
  // changes.
  const double sensitivity = privacy::sensitivity_limit(correlation, participation).value();
  return loss * sensitivity * sensitivity;
}

constexpr double greatest_nu = 0.95;

/// The ln ν of the least loss. It is found on a grid of a third of a decade, and then by a search around the best
/// point of the grid, to 1%.
double best_log_nu(const std::function<double(double)>& loss) {
  const double low = std::log(least_nu);
  const double high = std::log(greatest_nu);
  constexpr int cells = 30;
  const double cell = (high - low) / cells;
  double best = low;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= cells; ++i) {
    const double here = loss(low + i * cell);
    if (here < least) {
      least = here;
      best = low + i * cell;
    }
  }
  for (double step = cell / 2; step > 0.005; step /= 2) {
    for (const double beside : {best - step, best + step}) {
      if (beside < low || beside > high) continue;
      const double here = loss(beside);
      if (here < least) {
        least = here;
        best = beside;
      }
    }
  }
  return best;
}

}  // namespace

AverageSpan span_of(const descent::Averaging& averaging, std::uint64_t steps) {
  using Kind = descent::Averaging::Kind;
  NUSTREAM_REQUIRE(averaging.kind != Kind::last, "there is an average");
  const std::uint64_t from = averaging.from;
  if (averaging.kind == Kind::exponential) {
    // After 40 memories the first steps weigh e^-40. The bound keeps the number exact in a double.
    const double memories = std::min(std::ceil(40 / (1 - averaging.decay)), 1e15);
    return {{from, steps > 0 ? steps : from + static_cast<std::uint64_t>(memories), averaging.decay}, false, false};
  }
  if (steps > 0) return {{from, steps}, false, false};
  return from > 0 ? AverageSpan{{from, 2 * from}, false, true} : AverageSpan{{from, 1'000'000}, true, false};
}

std::vector<double> average_variances(const noise::Correlation& correlation, const LocalProblem& problem,
                                      const AverageOver& over) {
  const bool multiplies = problem.curvature == Curvature::gaussian_features;
  std::vector<double> variances;
  for (const double eigenvalue : problem.eigenvalues) {
    variances.push_back(averaged_noise_variance(
        correlation, {problem.step_size.value(), eigenvalue, over.from, over.steps, over.decay}));
  }
  if (!multiplies) return variances;
  const SecondMoment moment =
      second_moment(problem, privacy::stationary_variances(correlation, problem.step_size, problem.eigenvalues));
  // The noise that x xᵀ multiplies in is uncorrelated from step to step, so its average is that of independent noise.
  const noise::Correlation white{noise::Independent{}};
  for (std::size_t j = 0; j < variances.size(); ++j) {
    const double eigenvalue = problem.eigenvalues[j];
    const double gradient = eigenvalue * moment.trace + eigenvalue * eigenvalue * moment.along[j];
    variances[j] += gradient * averaged_noise_variance(
                                   white, {problem.step_size.value(), eigenvalue, over.from, over.steps, over.decay});
  }
  return variances;
}

double average_excess(const noise::Correlation& correlation, const LocalProblem& problem, const AverageOver& over,
                      NoiseStddev noise) {
  const std::vector<double> variances = average_variances(correlation, problem, over);
  double excess = 0;
  for (std::size_t j = 0; j < variances.size(); ++j) excess += problem.eigenvalues[j] / 2 * variances[j];
  return excess * noise.value() * noise.value();
}

Damping suggested_nu_of_average(const LocalProblem& problem, const AverageOver& over,
                                const privacy::Participation& participation) {
  if (problem.eigenvalues.empty()) throw InvalidParameter("eigenvalues", "none", "one for each coordinate");
  const std::vector<EigenvalueGroup> groups = groups_of(problem.eigenvalues);
  return damping_at(
      best_log_nu([&](double log_nu) { return loss_at(log_nu, groups, problem.step_size, over, participation); }));
}

Damping suggested_nu_of_every_average(const LocalProblem& problem, std::uint64_t from,
                                      const privacy::Participation& participation) {
  if (problem.eigenvalues.empty()) throw InvalidParameter("eigenvalues", "none", "one for each coordinate");
  const std::vector<EigenvalueGroup> groups = groups_of(problem.eigenvalues);
  constexpr int per_decade = 10;
  constexpr int decades = 9;  // up to .1
  // For each ν the worst ratio over all lengths, to the best ν of the same length.
  std::array<double, per_decade * decades + 1> worst{};
  for (std::uint64_t length = 10'000; length <= 1'000'000'000; length *= 10) {
    const AverageOver over{from, from + length};
    std::array<double, worst.size()> losses{};
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const double nu = std::min(greatest_nu, least_nu * std::pow(10.0, static_cast<double>(i) / per_decade));
      losses[i] = loss_at(std::log(nu), groups, problem.step_size, over, participation);
    }
    const double least = *std::min_element(losses.begin(), losses.end());
    for (std::size_t i = 0; i < losses.size(); ++i) worst[i] = std::max(worst[i], losses[i] / least);
  }
  const auto best = std::distance(worst.begin(), std::min_element(worst.begin(), worst.end()));
  return Damping{least_nu * std::pow(10.0, static_cast<double>(best) / per_decade)};
}

AveragePrediction predict_average(const noise::Correlation& correlation, const LocalProblem& problem,
                                  const AverageOver& over, bool every, const privacy::Budget& budget) {
  const NoiseStddev seed = privacy::calibrated_stddev(correlation, budget);
  const Damping suggested = every ? suggested_nu_of_every_average(problem, over.from, budget.participation)
                                  : suggested_nu_of_average(problem, over, budget.participation);
  const noise::Correlation other{noise::Rational::nu_ftrl(suggested)};
  const noise::Correlation independent{noise::Independent{}};
  std::vector<double> stddevs = average_variances(correlation, problem, over);
  for (double& entry : stddevs) entry = std::sqrt(entry) * seed.value();
  const auto excess = [&](const noise::Correlation& of) {
    return average_excess(of, problem, over, privacy::calibrated_stddev(of, budget));
  };
  return {average_excess(correlation, problem, over, seed),  excess(other), excess(independent),
          privacy::predicted_excess(other, problem, budget), suggested,     std::move(stddevs)};
}

}  // namespace nustream::inference
