// The error of a stream's last iterate as three terms, and a clip norm that clips nothing, both in closed form for
// normal rows (CDP+ Theorem D.13 with constants).
#include "nustream/inference/stream_bound.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nustream/inference/table_descent.h"

namespace nustream::inference {

std::optional<StreamBound> stream_bound(const StreamGuess& guess, StepSize step_size, std::uint64_t minibatch,
                                        std::uint64_t steps, double privacy) {
  check(guess);
  const double eta = step_size.value();
  const auto m = static_cast<double>(minibatch);
  const double trace = std::accumulate(guess.eigenvalues.begin(), guess.eigenvalues.end(), 0.0);
  const double largest = *std::ranges::max_element(guess.eigenvalues);
  double kept = 0;
  double fed = 0;  // share of Tr H E(θ − θ*)(θ − θ*)ᵀ that x xᵀ feeds back, in the limit
  for (const double eigenvalue : guess.eigenvalues) {
    const double rate = eta * eigenvalue;
    // For normal x the second moment of a step's contraction is 1 − 2ηλ + η²λ²(1 + 1/m) + η²λ Tr H/m, by E x xᵀAx xᵀ
    // = 2HAH + H tr(HA).
    kept = std::max(kept, 1 - 2 * rate + rate * rate * (1 + 1 / m) + eta * rate * trace / m);
    fed += rate / (m * (2 - rate * (1 + 1 / m)));
  }
  if (!(kept < 1) || !(fed < 1)) return std::nullopt;
  const double start = largest * std::pow(kept, static_cast<double>(steps)) * guess.distance * guess.distance / 2;
  // Residuals feed Tr HE(θ − θ*)(θ − θ*)ᵀ, and x xᵀ feeds the share `fed` of it back, so that it grows to fed/(1 −
  // fed)·σ².
  return StreamBound{start, fed / (1 - fed) * guess.residual * guess.residual / 2, privacy};
}

std::optional<double> stream_clip_norm(const StreamGuess& guess, double sampling, double privacy_per_clip,
                                       std::uint64_t records, double failure) {
  check(guess);
  // A squared error of predictions is twice an excess.
  const double residual = std::sqrt(guess.residual * guess.residual + 2 * sampling);
  return clip_norm_that_clips_nothing({guess.eigenvalues, residual, guess.distance, records, 1}, 2 * privacy_per_clip,
                                      failure);
}

}  // namespace nustream::inference
