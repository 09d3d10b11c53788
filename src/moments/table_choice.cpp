// Searches a small grid of descents over a table, and the sums of one release. The errors are those that streams are
// judged by, but for sampling: every step of such a descent takes the same rows, so that their residuals do not
// average out over the steps.
#include "nustream/moments/table_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"
#include "nustream/privacy/plan.h"
#include "nustream/privacy/sensitivity.h"

namespace nustream::moments {
namespace {

constexpr std::uint64_t most_steps = 4096;

/// 1, 2, 3, 4, 6, 9, 13, …: half as many again each time, or the number that is settled.
std::vector<std::uint64_t> numbers_of_steps(const TableSettled& settled) {
  if (settled.steps) return {*settled.steps};
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t steps = 1; steps <= most_steps; steps = std::max(steps + 1, steps + steps / 2)) {
    numbers.push_back(steps);
  }
  return numbers;
}

/// What remains of the residuals in the least squares of the table's own rows.
double sampling_of(const Problem& problem) {
  const auto coefficients = static_cast<double>(problem.guess.eigenvalues.size());
  return problem.guess.residual * problem.guess.residual * coefficients / static_cast<double>(problem.records);
}

inference::ExpectedError error_of(const Problem& problem, const TableDescentChoice& choice) {
  const noise::Correlation white{noise::Independent{}};
  // Each record takes part in every step.
  const privacy::Budget budget{problem.rho, privacy::Participation{choice.steps.value(), 1},
                               privacy::displacement(choice.clip, problem.adjacency)};
  const double of_sum = privacy::calibrated_stddev(white, budget).value();
  const inference::DescentErrors errors =
      inference::expected_errors(problem.guess, {white,
                                                 choice.step_size,
                                                 choice.clip,
                                                 NoiseStddev{of_sum / static_cast<double>(problem.records)},
                                                 problem.records,
                                                 {0, choice.steps.value()}});
  return {errors.last.start, sampling_of(problem), errors.last.privacy};
}

}  // namespace

TableDescentChoice best_table_descent(const Problem& problem, const TableSettled& settled) {
  inference::check(problem.guess);
  double total = 0;
  for (const double value : problem.guess.eigenvalues) total += value;
  const double longest = 1 / std::ranges::max(problem.guess.eigenvalues);
  std::vector<double> sizes{longest / 16, longest / 8, longest / 4, longest / 2, longest};
  if (problem.settled.step_size) sizes = {*problem.settled.step_size};
  const double unit = problem.guess.residual * std::sqrt(total);
  std::vector<double> clips{unit, 2 * unit, 4 * unit, 8 * unit};
  if (problem.settled.clip_norm) clips = {*problem.settled.clip_norm};
  TableDescentChoice best;
  best.error.start = std::numeric_limits<double>::infinity();
  for (const std::uint64_t steps : numbers_of_steps(settled)) {
    for (const double size : sizes) {
      for (const double clip : clips) {
        TableDescentChoice one{StepCount{steps}, StepSize{size}, ClipNorm{clip}};
        one.error = error_of(problem, one);
        if (one.error.total() < best.error.total()) best = one;
      }
    }
  }
  return best;
}

SumsChoice best_table_sums(Problem problem) {
  problem.every = problem.records;
  problem.ends = true;
  problem.is_table = true;
  auto best = best_sums(problem, 0);
  NUSTREAM_REQUIRE(best.has_value(), "a table's sums are released once");
  return *std::move(best);
}

}  // namespace nustream::moments
