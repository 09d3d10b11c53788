// Minimising over columns that fall; private to the privacy room.
#pragma once

#include <cstddef>
#include <vector>

#include "quasi_newton.h"

namespace nustream::privacy::optimised {

/// The closest x_0 ≥ x_1 ≥ … ≥ 0 in ℓ2: equal stretches get their mean, negative ones 0. O(n).
/// Source: pool adjacent violators (Ayer et al. 1955).
void make_falling(std::vector<double>& x);

/// Minimises over x_0 ≥ x_1 ≥ … ≥ 0, from a start that is projected onto it, by steps along the projected gradient of
/// Barzilai and Borwein's length. The same bits on every machine, as minimise().
///
/// Source: Birgin, Martínez and Raydan 2000 (SPG2).
[[nodiscard]] Minimum minimise_falling(const Objective& objective, std::vector<double> start,
                                       const Patience& patience);

}  // namespace nustream::privacy::optimised
