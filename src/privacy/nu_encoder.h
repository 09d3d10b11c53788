// γ_T of exact ν-FTRL: one participation, any T in milliseconds.
#pragma once

#include <memory>

#include "encoder_norm.h"

namespace nustream::privacy {

/// Σ_{t<T} c_t², c_t = (1−ν)^t·C(2t, t)/4^t (CDP+ eq. (7)); the limit is 1/AGM(1, √(1 − (1−ν)²)), for ν > 0.
[[nodiscard]] std::unique_ptr<EncoderNorm> nu_column_norm(Damping nu);

}  // namespace nustream::privacy
