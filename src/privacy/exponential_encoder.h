// Encoders whose column is a sum of exponentials: closed-form sensitivity for any (k, b) at any T.
#pragma once

#include <memory>
#include <vector>

#include "encoder_norm.h"

namespace nustream::privacy {

/// c_0 = first, c_t = Σ_i weights_i · decays_i^{t−1} for t ≥ 1; weights > 0, 0 < decays ≤ 1. Covers
/// independent (no terms), anti-PGD (decay 1), damped anti-PGD (one term) and rational correlations.
struct ExponentialEncoder {
  double first = 1;
  std::vector<double> decays;   ///< q_i
  std::vector<double> weights;  ///< b_i
  double relative_slack = 0;    ///< covers the rounding of q and b against the B that is generated
};

/// Needs c non-increasing when the participation allows several times. O(terms²) for one participation,
/// O(terms²) more for each further one that a call reaches beyond the last call.
[[nodiscard]] std::unique_ptr<EncoderNorm> exponential_norm(ExponentialEncoder encoder,
                                                            const Participation& participation);

}  // namespace nustream::privacy
