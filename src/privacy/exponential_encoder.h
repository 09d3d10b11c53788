// Encoders whose column is a sum of exponentials: closed-form sensitivity for any (k, b) at any T.
#pragma once

#include <memory>
#include <vector>

#include "encoder_norm.h"

namespace nustream::privacy {

/// c_0 = 1, c_t = Σ_i weights_i · decays_i^{t−1} for t ≥ 1; weights > 0, 0 < decays ≤ 1. Covers independent (no
/// terms), anti-PGD (decay 1), damped anti-PGD (one term) and rational correlations.
struct ExponentialEncoder {
  std::vector<double> decays;   ///< q_i
  std::vector<double> weights;  ///< b_i
  /// Relative error of a term per step that it decays over, from the rounding of q and b against the p and a that
  /// the noise is generated from; counts for at most 1/(1 − q) steps of the slowest term.
  double rounding_per_step = 0;
};

/// Exact also for c_1 > c_0: it is enough that c falls from c_1 on (numeric_encoder.h). O(terms²) for one
/// participation, O(terms²) more for each further one that a call reaches beyond the last call.
[[nodiscard]] std::unique_ptr<EncoderNorm> exponential_norm(ExponentialEncoder encoder,
                                                            const Participation& participation);

}  // namespace nustream::privacy
