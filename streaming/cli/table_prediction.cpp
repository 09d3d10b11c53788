// The expected error of a descent over a table, direction by direction of E[xxᵀ] (DP-GD paper, Lemma 2.3), and two
// searches over it: for the number of steps with the least error, and for a clip norm that clips nothing.
#include "cli/table_prediction.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/descent_prediction.h"
#include "nustream/base/error.h"
#include "nustream/inference/table_descent.h"

namespace nustream::cli {
namespace {

/// Whether the lemma covers the settings: a quadratic loss, one stage, and no limits of users.
bool has_formula(const config::Config& config) {
  const bool quadratic = is_mean(config) || config.descent.loss.kind == model::Loss::Kind::linear;
  return quadratic && !config.moments && !config.descent.first_stage && !config.users;
}

/// The eigenvalues of E[xxᵀ], one for each parameter; 1 where none are set.
std::vector<double> eigenvalues_of(const config::Config& config) {
  const std::vector<double>& set = config.problem.eigenvalues;
  if (!is_mean(config) && set.size() == config.descent.dimension) return set;
  return std::vector<double>(config.descent.dimension, 1.0);
}

/// Eigenvalues near a guess, because the real one may differ from the guess. A step size may suit the guess itself by
/// chance (1 − ηλ = 0, or momentum that swings through zero). The prediction from the guess alone would then say that
/// the start is gone when it is not.
std::vector<double> near(const config::Config& config, double eigenvalue) {
  if (is_mean(config)) return {eigenvalue};
  if (config.problem.eigenvalues.empty()) return {eigenvalue / 2, eigenvalue};  // Condition 2.4 (i)
  // A guess of 0.5 gives 0.45, 0.5 and 0.55.
  return {0.9 * eigenvalue, eigenvalue, 1.1 * eigenvalue};
}

/// What is left of the start after all steps, as a share of it, and the variance of the noise for a standard
/// deviation of 1.
struct Direction {
  double start = 0;
  double noise_variance = 0;
};

/// The descent along one eigenvector. Of the start, the most that any eigenvalue near the guess leaves is taken.
Direction direction_of(const config::Config& config, const config::Mechanism& mechanism, double eigenvalue,
                       std::uint64_t steps) {
  const lane::Settings& descent = config.descent;
  Direction direction;
  for (const double value : near(config, eigenvalue)) {
    const double left = inference::start_left(descent.schedule, value + descent.l2, descent.momentum, steps);
    direction.start = std::max(direction.start, std::abs(left));
  }
  direction.noise_variance = inference::last_iterate(mechanism.main().correlation, descent.schedule,
                                                     eigenvalue + descent.l2, descent.momentum, steps)
                                 .noise_variance;
  return direction;
}

}  // namespace

std::optional<TableError> table_error(const config::Config& config, const config::Mechanism& mechanism,
                                      const engine::TableDesign& design) {
  if (!has_formula(config)) return std::nullopt;
  const std::vector<double> eigenvalues = eigenvalues_of(config);
  const double stddev = mechanism.main().stddev.value() / static_cast<double>(design.minibatch);
  // The guess is of the whole distance, which is spread evenly over the directions.
  const double per_direction =
      config.problem.distance.value_or(0) / std::sqrt(static_cast<double>(eigenvalues.size()));
  TableError result{0, {}, 0};
  double squares = 0;
  try {
    std::map<double, Direction> known;  // many directions share one eigenvalue
    for (const double eigenvalue : eigenvalues) {
      const auto [entry, is_new] = known.try_emplace(eigenvalue);
      if (is_new) entry->second = direction_of(config, mechanism, eigenvalue, design.steps);
      const double start = entry->second.start;
      const double noise = entry->second.noise_variance * stddev * stddev;
      squares += noise + std::pow(start * per_direction, 2);
      result.left = std::max(result.left, start);
      // Noise is proportional to the clip norm, so that its square is divided out.
      result.noise_per_clip += eigenvalue * noise / std::pow(config.descent.clip.value(), 2);
    }
  } catch (const Unsupported&) {
    return std::nullopt;  // it takes too long to compute for a plan
  }
  if (config.problem.distance && std::isfinite(squares)) result.error = std::sqrt(squares);
  return result;
}

std::string assumed_of_start(const config::Config& config) {
  if (is_mean(config)) return "what is left of the start is exact: a mean's eigenvalue is 1";
  return config.problem.eigenvalues.empty()
             ? "what is left of the start is at most this where eigenvalues of E[xx'] are 1/2 and more, since "
               "plan.second_moment_eigenvalues is not set; the noise is that of eigenvalues of 1"
             : "what is left of the start is at most this where eigenvalues of E[xx'] are within a tenth of "
               "plan.second_moment_eigenvalues";
}

std::optional<TableSuggestion> suggested_steps(
    const std::function<std::optional<double>(std::uint64_t steps)>& error_at) {
  constexpr std::uint64_t most = 4096;
  std::optional<TableSuggestion> best;
  const auto look = [&](std::uint64_t steps) {
    const std::optional<double> error = error_at(steps);
    if (error && (!best || *error < best->error)) best = TableSuggestion{steps, *error};
  };
  // 1, 2, 3, 4, 6, 9, 13 …: half as many again each time.
  for (std::uint64_t steps = 1; steps <= most; steps = std::max(steps + 1, steps + steps / 2)) look(steps);
  if (!best) return best;
  // The error falls and then rises with the steps. The search looks left and right of the best number of steps, and
  // halves the distance until the next numbers are its neighbours.
  for (std::uint64_t stride = best->steps / 2; stride > 0; stride /= 2) {
    const std::uint64_t centre = best->steps;
    look(centre + stride);
    if (centre > stride) look(centre - stride);
  }
  return best;
}

std::optional<ClipSuggestion> suggested_clip(const config::Config& config, const TableError& error,
                                             const engine::TableDesign& design) {
  if (is_mean(config) || !config.problem.residual || !config.problem.distance) return std::nullopt;
  constexpr double failure = 0.05;
  const inference::TableGuess guess{eigenvalues_of(config), *config.problem.residual, *config.problem.distance,
                                    design.rows, design.steps};
  return ClipSuggestion{inference::clip_norm_that_clips_nothing(guess, error.noise_per_clip, failure)};
}

}  // namespace nustream::cli
