// What the last iterate of a full-batch descent holds of its start and its noise, where nothing is clipped. With a
// constant step size and no momentum there are shorter ways. Otherwise derivatives of the last iterate by each step's
// noise are computed backwards (weigh()), as e_T is linear in all of them.
#include "nustream/inference/table_descent.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <variant>

#include "nustream/base/error.h"
#include "nustream/inference/average_noise.h"

namespace nustream::inference {
namespace {

constexpr std::uint64_t dense_max = 2048;  // B takes 32 MiB

/// weights[t] = −∂e_T/∂z_t, computed backwards from the last step. Returns ∂e_T/∂e_0.
double weigh(const descent::Schedule& schedule, double curvature, double momentum, std::vector<double>& weights) {
  double of_iterate = 1;   // ∂e_T/∂e_{t+1}
  double of_velocity = 0;  // ∂e_T/∂v_{t+1}, through the steps after it
  for (std::size_t t = weights.size(); t-- > 0;) {
    // ∂e_T/∂v_{t+1}, by the iterate that v_{t+1} moves and by the velocities after it. v_{t+1} contains z_t once,
    // λe_t, and μ v_t.
    const double moved = of_velocity - schedule.at(StepIndex{t}) * of_iterate;
    weights[t] = -moved;
    of_iterate += curvature * moved;
    of_velocity = momentum * moved;
  }
  return of_iterate;
}

double squared_sum(const std::vector<double>& values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

/// ‖Bᵀa‖², the variance of Σ_t a_t z_t.
double variance_of(const noise::Correlation& correlation, const std::vector<double>& weights) {
  if (std::holds_alternative<noise::Independent>(correlation.family())) return squared_sum(weights);
  if (weights.size() > dense_max) {
    throw Unsupported("the noise of so many steps is computed where it is independent, or the step size constant");
  }
  const std::vector<double> b = noise::dense_noise_matrix(correlation, weights.size());
  const std::size_t columns = b.size() / weights.size();
  std::vector<double> seeds(columns, 0.0);
  for (std::size_t t = 0; t < weights.size(); ++t) {
    for (std::size_t s = 0; s < columns; ++s) seeds[s] += weights[t] * b[t * columns + s];
  }
  return squared_sum(seeds);
}

}  // namespace

LastIterate last_iterate(const noise::Correlation& correlation, const descent::Schedule& schedule, double curvature,
                         double momentum, std::uint64_t steps) {
  if (steps == 0) return {1, 0};
  const auto* const constant = std::get_if<descent::Constant>(&schedule.family());
  const bool has_series = correlation.toeplitz() || std::holds_alternative<noise::Dense>(correlation.family());
  // An average that begins at step T − 1 is the last iterate alone.
  if (constant != nullptr && momentum == 0 && has_series) {
    const double size = constant->size.value();
    return {start_left(schedule, curvature, momentum, steps),
            averaged_noise_variance(correlation, {size, curvature, steps - 1, steps})};
  }
  std::vector<double> weights(static_cast<std::size_t>(steps));
  const double start = weigh(schedule, curvature, momentum, weights);
  return {start, variance_of(correlation, weights)};
}

double start_left(const descent::Schedule& schedule, double curvature, double momentum, std::uint64_t steps) {
  const auto* const constant = std::get_if<descent::Constant>(&schedule.family());
  if (constant != nullptr && momentum == 0) {
    return std::pow(1 - constant->size.value() * curvature, static_cast<double>(steps));
  }
  std::vector<double> weights(static_cast<std::size_t>(steps));
  return weigh(schedule, curvature, momentum, weights);
}

std::optional<double> clip_norm_that_clips_nothing(const TableGuess& guess, double kappa, double failure) {
  if (guess.eigenvalues.empty() || guess.records == 0 || guess.steps == 0) {
    throw InvalidParameter("guess", "of nothing", "eigenvalues, records and steps");
  }
  const double largest = *std::ranges::max_element(guess.eigenvalues);
  const double trace = std::accumulate(guess.eigenvalues.begin(), guess.eigenvalues.end(), 0.0);
  const auto n = static_cast<double>(guess.records);
  const double row = std::sqrt(trace) + std::sqrt(2 * largest * std::log(2 * n / failure));
  const double tail = std::sqrt(2 * std::log(4 * n * static_cast<double>(guess.steps) / failure));
  const double signal = guess.residual * guess.residual + largest * guess.distance * guess.distance;
  // Lemma 2.5's bound contains the clip norm itself, as larger clip norms bring more noise: γ² = R²q²(signal + κγ²),
  // solved for γ.
  const double fed_back = row * row * tail * tail * kappa;
  if (!(fed_back < 1)) return std::nullopt;
  return row * tail * std::sqrt(signal / (1 - fed_back));
}

}  // namespace nustream::inference
