// Encoders whose first column is a sum of exponentials: their sensitivity has a closed form for any (k, b) at any
// T.
#pragma once

#include <memory>
#include <vector>

#include "encoder_norm.h"

namespace nustream::privacy {

/// c_0 = 1 and c_t = Σ_i weights_i · decays_i^{t−1} for t ≥ 1, with weights > 0 and 0 < decays ≤ 1. This form
/// covers independent noise (no terms), anti-PGD (decay 1), damped anti-PGD (one term) and rational correlations.
struct ExponentialEncoder {
  std::vector<double> decays;   ///< q_i
  std::vector<double> weights;  ///< b_i
  /// Relative error of a term for each step that it decays over. The noise is generated from rounded p and a, and
  /// the accounting uses q and b, which are rounded on their own; this covers the difference. It counts for at
  /// most 1/(1 − q) steps of the slowest term, since a term has vanished after that.
  double rounding_per_step = 0;
};

/// The norm is exact also for c_1 > c_0: it is enough that c falls from c_1 on, as numeric_encoder.h shows. A call
/// takes O(terms²) for one participation, and O(terms²) for each further one that it reaches beyond the last call.
[[nodiscard]] std::unique_ptr<EncoderNorm> exponential_norm(ExponentialEncoder encoder,
                                                            const Participation& participation);

}  // namespace nustream::privacy
