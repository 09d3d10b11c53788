// Searches small grids of settings for the one with the least predicted error, for descents and for running sums. The
// errors come from inference/expected_error.h and moments/expected_error.h. No record is read: every number follows
// from guesses, so a choice costs no privacy.
#include "nustream/moments/choice.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/inference/average_plan.h"
#include "nustream/moments/budget.h"
#include "nustream/moments/expected_error.h"
#include "nustream/noise/rational.h"
#include "nustream/privacy/plan.h"
#include "nustream/privacy/sensitivity.h"

namespace nustream::moments {
namespace {

double trace(const inference::StreamGuess& guess) {
  double sum = 0;
  for (const double value : guess.eigenvalues) sum += value;
  return sum;
}

/// The standard deviation of y − xᵀθ about the start.
/// The distance to the start is spread evenly over the eigenvectors, so that the mean eigenvalue multiplies it.
double first_residual(const inference::StreamGuess& guess) {
  const double mean_eigenvalue = trace(guess) / static_cast<double>(guess.eigenvalues.size());
  return std::sqrt(guess.residual * guess.residual + mean_eigenvalue * guess.distance * guess.distance);
}

bool is_less(const inference::ExpectedError& one, const inference::ExpectedError& other) {
  return one.total() < other.total();
}

/// The correlation that the configuration gives running sums: one that ends with the releases, or an endless one.
noise::Correlation correlation_of(const Problem& problem) {
  if (!problem.ends) return noise::Correlation{noise::Rational::nu_ftrl(Damping{1e-6})};
  const std::uint64_t releases = problem.records / problem.every;
  // At a known T the rational correlation of ν = .8/T with five poles has a little less prefix error than the exact
  // one of ν = 0.
  constexpr std::size_t poles = 5;
  const Damping nu{std::max(0.8 / static_cast<double>(releases), 1e-10)};
  return noise::Correlation{noise::Rational::nu_ftrl(nu, poles), StepCount{releases}};
}

/// The settled value alone, or each of the candidates times `unit`.
std::vector<double> values_of(const std::optional<double>& settled, std::vector<double> candidates, double unit) {
  if (settled) return {*settled};
  for (double& each : candidates) each *= unit;
  return candidates;
}

std::vector<double> step_sizes() {
  // Quarters of a decade, from 10^−½ down to 10^−5.
  std::vector<double> sizes;
  for (int quarter = 2; quarter <= 20; ++quarter) sizes.push_back(std::pow(10.0, -quarter / 4.0));
  return sizes;
}

/// Keeps the candidate if its predicted error is less than that of the best one so far.
void try_sums(const Problem& problem, SumsChoice candidate, std::optional<SumsChoice>& best) {
  candidate.error =
      expected_error(problem.guess, sums_settings(problem, candidate), StepCount{problem.records / problem.every});
  if (!best || is_less(candidate.error, best->error)) best = candidate;
}

}  // namespace

inference::DescentDesign descent_design(const Problem& problem, const DescentChoice& choice) {
  const noise::Correlation correlation{noise::Rational::nu_ftrl(choice.nu)};
  // Records take part once, and Δ carries the factor of the adjacency.
  const privacy::Budget budget{problem.rho, privacy::Participation::once(),
                               privacy::displacement(choice.clip, problem.adjacency)};
  return {correlation, choice.step_size,
          choice.clip, privacy::calibrated_stddev(correlation, budget),
          1,           {choice.from, problem.records}};
}

namespace {

/// The best of the step sizes and clip norms, either for the last iterate or for an average that begins at `from`.
DescentChoice best_descent_from(const Problem& problem, bool average, std::uint64_t from) {
  // 1/tr H is the longest step for which a single row of mean length does not overshoot; sizes are tried below it.
  const double total = trace(problem.guess);
  const auto once = privacy::Participation::once();
  const Settled& settled = problem.settled;
  const auto nu_of = [&](StepSize step_size) {
    if (settled.nu) return Damping{*settled.nu};
    const privacy::LocalProblem local{problem.guess.eigenvalues, step_size, privacy::Curvature::fixed};
    const Damping nu = average ? inference::suggested_nu_of_average(local, {from, problem.records}, once)
                               : privacy::suggested_nu(local, once);
    return Damping{std::max(nu.value(), 1e-9)};
  };
  // For an average, ν hardly depends on the step size: one search serves all step sizes, and another one the best of
  // them.
  const std::optional<Damping> shared = average ? std::optional(nu_of(StepSize{0.01 / total})) : std::nullopt;
  DescentChoice best;
  // The first candidate then is better in any case, as long as its error is finite.
  best.error.start = INFINITY;
  const auto try_one = [&](DescentChoice choice) {
    const inference::DescentErrors errors =
        inference::expected_errors(problem.guess, descent_design(problem, choice));
    choice.error = average ? errors.average : errors.last;
    if (is_less(choice.error, best.error)) best = choice;
  };
  for (const double size : values_of(settled.step_size, step_sizes(), 1 / total)) {
    const Damping nu = shared ? *shared : nu_of(StepSize{size});
    for (const double clip : values_of(settled.clip_norm, {1, 2, 4, 8}, problem.guess.residual * std::sqrt(total))) {
      try_one({StepSize{size}, ClipNorm{clip}, nu, from});
    }
  }
  // Its own ν may still be worse than the shared one, so the better of the two is kept.
  if (average) try_one({best.step_size, best.clip, nu_of(best.step_size), from});
  return best;
}

}  // namespace

DescentChoice best_descent(const Problem& problem, bool average) {
  inference::check(problem.guess);
  const std::uint64_t last = problem.records - 1;
  if (!average) return best_descent_from(problem, false, problem.records / 2);
  if (problem.settled.from) return best_descent_from(problem, true, std::min(*problem.settled.from, last));
  // An average of more records has less of their spread, and more of what is left of the start.
  DescentChoice best = best_descent_from(problem, true, problem.records / 2);
  for (const std::uint64_t part : {4U, 10U, 20U}) {
    const DescentChoice longer = best_descent_from(problem, true, problem.records / part);
    if (is_less(longer.error, best.error)) best = longer;
  }
  return best;
}

Settings sums_settings(const Problem& problem, const SumsChoice& choice) {
  Settings settings{
      .mechanism = {{{problem.guess.eigenvalues.size(), 0}, Spread::none, {problem.adjacency, false, false}},
                    {1, 1, problem.every},
                    correlation_of(problem)},
      .sigmas = {},
      .stages = {{0, choice.radii}},
      .start = std::vector<double>(problem.guess.eigenvalues.size(), 0.0)};
  // Without a spread there are two noised blocks: H, then the target's moments.
  settings.sigmas = calibrate(settings.mechanism, {choice.second_share, 1 - choice.second_share}, problem.rho);
  settings.stages.insert(settings.stages.end(), choice.later.begin(), choice.later.end());
  if (!choice.later.empty()) settings.weighting.residual_variance = choice.residual_variance;
  return settings;
}

/// Bounds of a later stage's residuals, in their deviations. Normal residuals, which the predicted error takes for
/// granted, would be served best by 2. Those of real tables are often skewed, and a bound of 2 then costs far more in
/// bias than it saves in noise: on retail orders it leaves 13 times the excess that a bound of 3 leaves, while on
/// bike rentals a bound of 3 costs a quarter more.
constexpr double later_bounds[] = {3, 4};

/// The share of ρ for H that is tried beside a half, where a second recentring makes the noise of H matter less. A
/// smaller one raises the floor under the eigenvalues of H, and guesses seldom know the smallest of them: with 50
/// equal eigenvalues .35 would leave a little less error still, but on bike rentals, recentred once, it adds an
/// eighth to the excess that a half leaves.
constexpr double smaller_share = 0.4;

namespace {

/// Where the further stages may begin, in steps: one list for each way to place them. A centre is better, the more
/// records have made it, and serves more records, the earlier it comes. A second recentring comes when there are
/// three times as many records: the distance of the centre, by which the noise of H is multiplied, is then about
/// half.
std::vector<std::vector<std::uint64_t>> placed(std::uint64_t releases, std::size_t recentrings) {
  const auto after = [&](std::uint64_t part) { return std::max<std::uint64_t>(1, releases / part); };
  if (recentrings == 0) return {{}};
  if (recentrings == 1) return {{after(20)}, {after(10)}, {after(4)}};
  std::vector<std::vector<std::uint64_t>> pairs;
  for (const std::uint64_t first : {after(20), after(10)}) {
    if (3 * first < releases) pairs.push_back({first, 3 * first});
  }
  return pairs;
}

/// Tries every place and every bound of the further stages.
void try_later(const Problem& problem, const SumsChoice& first, std::size_t recentrings,
               std::optional<SumsChoice>& best) {
  if (recentrings == 0) {
    try_sums(problem, first, best);
    return;
  }
  for (const std::vector<std::uint64_t>& begins : placed(problem.records / problem.every, recentrings)) {
    for (const double later : later_bounds) {
      SumsChoice staged = first;
      for (const std::uint64_t begin : begins) {
        staged.later.push_back({begin, {first.radii.inputs, 1, later * problem.guess.residual}});
      }
      try_sums(problem, staged, best);
    }
  }
}

}  // namespace

std::optional<SumsChoice> best_sums(const Problem& problem, std::size_t recentrings) {
  NUSTREAM_REQUIRE(recentrings <= most_recentrings, "no more recentrings than are tried");
  inference::check(problem.guess);
  const std::uint64_t releases = problem.records / problem.every;
  // A single release is enough for the plain sums of a table. A second stage needs another.
  const std::uint64_t fewest = problem.is_table && recentrings == 0 ? 1 : 2;
  if (releases < fewest) return std::nullopt;
  const double row = std::sqrt(trace(problem.guess));
  const double residual = first_residual(problem.guess);
  std::optional<SumsChoice> best;
  for (const double row_norm : values_of(problem.settled.row_norm, {1, 1.25, 1.6, 2}, row)) {
    for (const double bound : values_of(problem.settled.residual_bound, {1.5, 2, 3, 4, 6}, residual)) {
      SumsChoice plain;
      plain.radii = {row_norm, 1, bound};
      plain.residual_variance = problem.guess.residual * problem.guess.residual;
      plain.second_share = problem.settled.second_share.value_or(plain.second_share);
      try_later(problem, plain, recentrings, best);
    }
  }
  if (!best || recentrings < 2 || problem.settled.second_share) return best;
  // The other share is tried for the best settings alone.
  SumsChoice shared = *best;
  shared.second_share = smaller_share;
  try_sums(problem, shared, best);
  return best;
}

bool second_recentring_pays(const Problem& problem) {
  // Both are compared at one share, because best_sums() tries the smaller one for two recentrings only.
  Problem half = problem;
  half.settled.second_share = problem.settled.second_share.value_or(0.5);
  const auto once = best_sums(half, 1);
  const auto twice = best_sums(half, 2);
  return once && twice && is_less(twice->error, once->error);
}

}  // namespace nustream::moments
