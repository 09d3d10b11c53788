// Step sizes, contraction and clip norms of two-stage descent from public guesses, in the symbols of the IV paper's
// equation (10). Gaussian bounds for singular values take the place of its constants C_0 and c_0.
#include "nustream/inference/two_stage_rules.h"

#include <algorithm>
#include <cmath>

#include "nustream/base/error.h"

namespace nustream::inference {
namespace {

void check(const TwoStageGuess& guess) {
  if (guess.regressors == 0 || guess.instruments < guess.regressors || guess.records == 0) {
    throw InvalidParameter("guess", "of another shape", "1 <= regressors <= instruments, and records");
  }
  const bool in_range = guess.weakest >= 0 && guess.strongest >= guess.weakest && std::isfinite(guess.strongest) &&
                        guess.first_residual >= 0 && guess.residual >= 0 && guess.distance >= 0;
  if (!in_range) throw InvalidParameter("guess", "out of range", "numbers >= 0, weakest <= strongest");
}

/// The γ with γ² = a + bγ².
std::optional<double> fixed_point(double a, double b) {
  if (!(b < 1)) return std::nullopt;
  return std::sqrt(a / (1 - b));
}

}  // namespace

TwoStageConditions two_stage_conditions(const TwoStageGuess& guess, double failure) {
  check(guess);
  const auto n = static_cast<double>(guess.records);
  const double root_q = std::sqrt(static_cast<double>(guess.instruments));
  const double root_p = std::sqrt(static_cast<double>(guess.regressors));
  // Three events of probability failure/3 each, e^{−tail²/2}: the two ends of Z's singular values, and the size of
  // the projected ε_2.
  const double tail = std::sqrt(2 * std::log(3 / failure));
  const double delta = (root_q + tail) / std::sqrt(n);
  const double below = std::max(0.0, 1 - delta);
  // ψ, an upper bound of ‖Θ̂ − Θ‖.
  const double moved =
      below > 0 ? guess.first_residual * (root_p + root_q + tail) / (std::sqrt(n) * below) : HUGE_VAL;
  TwoStageConditions found{};
  found.delta = delta;
  const double least = below > 0 ? below * std::max(0.0, guess.weakest - moved) : 0;
  found.least = least * least;
  found.largest = std::pow((1 + delta) * (guess.strongest + moved), 2);
  found.eta_max = 2 / ((1 + delta) * (1 + delta));
  found.alpha_max = 4 / (2 * found.largest + found.least);
  found.eta = 2 / ((1 + delta) * (1 + delta) + below * below);
  found.alpha = 2 / (found.largest + found.least);
  return found;
}

double contraction(const TwoStageConditions& conditions, double eta, double alpha) {
  const double below = std::max(0.0, 1 - conditions.delta);
  const double above = 1 + conditions.delta;
  // κ_β and, in the last line, κ_Θ of equation (10).
  const double second = std::max(std::abs(1 - alpha * conditions.least / 2),
                                 std::abs(1 - alpha * (2 * conditions.largest + conditions.least) / 2));
  return std::max({second, std::abs(1 - eta * below * below), std::abs(1 - eta * above * above)});
}

std::optional<TwoStageClips> two_stage_clips(const TwoStageGuess& guess, const TwoStageNoise& noise,
                                             std::uint64_t steps, double failure) {
  check(guess);
  const auto n = static_cast<double>(guess.records);
  const auto q = static_cast<double>(guess.instruments);
  const auto p = static_cast<double>(guess.regressors);
  const double each = 5 * n * static_cast<double>(steps) / failure;  // five events; two of them are two-sided
  // R over all rows; P (`vector`) and r (`tail`) over all rows and steps.
  const double row = std::sqrt(q) + std::sqrt(2 * std::log(5 * n / failure));
  const double vector = std::sqrt(p) + std::sqrt(2 * std::log(each));
  const double tail = std::sqrt(2 * std::log(2 * each));
  const double strong = guess.strongest * guess.strongest;

  // The clip norm is on both sides, as in γ² = a + bγ²: a larger one brings more noise into Θ_t, and so longer
  // gradients.
  const double lengths = std::pow(row * vector, 2);
  const auto first =
      fixed_point(lengths * (guess.first_residual * guess.first_residual + strong), lengths * noise.first * q);
  if (!first) return std::nullopt;
  const double width = strong + noise.first * q * *first * *first;  // w²
  const double reduced =
      std::pow(guess.residual + guess.first_residual * guess.distance, 2) + width * guess.distance * guess.distance;
  const double reach = std::pow(vector * tail, 2) * width;
  const auto second = fixed_point(reach * reduced, reach * width * p * noise.second);
  if (!second) return std::nullopt;
  return TwoStageClips{*first, *second};
}

}  // namespace nustream::inference
