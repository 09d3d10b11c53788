// Exact ν-FTRL: γ_T for one participation at any T in milliseconds, and the column of C for several
// participations.
#pragma once

#include <cstdint>
#include <memory>

#include "numeric_encoder.h"

namespace nustream::privacy {

/// The norm Σ_{t<T} c_t² for one participation, c_t = (1−ν)^t·C(2t, t)/4^t (CDP+ eq. (7)). For ν > 0 its limit is
/// 1/AGM(1, √(1 − (1−ν)²)).
[[nodiscard]] std::unique_ptr<EncoderNorm> nu_column_norm(Damping nu);

/// The first n = `count` entries of the column c, with c_n·(1−ν)^{t − n} as the bound of the entries t ≥ n. The
/// entries are computed in long double, so that they are accurate to a few units in the last place for the first
/// few thousand steps.
[[nodiscard]] EncoderColumn nu_column(Damping nu, std::uint64_t count);

/// The number of entries after which what is left of c has a norm below 1e-16, even `times` times over. For ν = 0
/// it is endless_reach.
[[nodiscard]] std::uint64_t nu_reach(Damping nu, std::uint64_t times);

}  // namespace nustream::privacy
