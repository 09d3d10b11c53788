// Exact ν-FTRL: γ_T for one participation at any T in milliseconds, and the column for several.
#pragma once

#include <cstdint>
#include <memory>

#include "numeric_encoder.h"

namespace nustream::privacy {

/// Σ_{t<T} c_t², c_t = (1−ν)^t·C(2t, t)/4^t (CDP+ eq. (7)); the limit is 1/AGM(1, √(1 − (1−ν)²)), for ν > 0.
[[nodiscard]] std::unique_ptr<EncoderNorm> nu_column_norm(Damping nu);

/// The column c, with (1−ν)^{t − n} times c_n as the bound beyond n entries. Long double inside: the entries are
/// accurate to a few units in the last place for the first few thousand steps.
[[nodiscard]] EncoderColumn nu_column(Damping nu, std::uint64_t count);

/// Entries after which what is left of c, even `times` times over, has a norm below 1e-16; endless for ν = 0.
[[nodiscard]] std::uint64_t nu_reach(Damping nu, std::uint64_t times);

}  // namespace nustream::privacy
