// Minimises a function over columns that fall; private to the privacy room.
#pragma once

#include <cstddef>
#include <vector>

#include "quasi_newton.h"

namespace nustream::privacy::optimised {

/// Replaces x by the closest vector in ℓ2 with x_0 ≥ x_1 ≥ … ≥ 0: stretches that would rise get their mean, and
/// negative values become 0. O(n).
///
/// Source: pool adjacent violators (Ayer et al. 1955).
void make_falling(std::vector<double>& x);

/// Minimises over x_0 ≥ x_1 ≥ … ≥ 0 by steps along the projected gradient, whose length is that of Barzilai and
/// Borwein. The start is projected onto the allowed vectors first. As with minimise(), the bits are the same on
/// every machine.
///
/// Source: Birgin, Martínez and Raydan 2000 (SPG2).
[[nodiscard]] Minimum minimise_falling(const Objective& objective, std::vector<double> start,
                                       const Patience& patience);

}  // namespace nustream::privacy::optimised
