// Fits a linear model to a whole table without any guess: ranges, a pilot and the answer are each found over rows of
// their own.
#pragma once

#include "nustream/ranges/noise_draws.h"
#include "nustream/ranges/table_fit.h"

namespace nustream::ranges {

/// Fits the least squares of the target on an intercept and the features.
///
/// The stages have parts of the table of their own (stride.h), each at the whole ρ: octaves of every column; equal
/// bins, and zooms where a column needs one; lengths and residuals; a pilot by moments, which gives the centre and
/// the whitening; lengths and residuals about the pilot; and the answer. The answer's part has two releases, whose ρ
/// add up to the whole: a histogram of the residuals about the pilot, and moments about the pilot with bounds as wide
/// as the noise allows. A stage uses nothing of earlier ones but functions of their noisy counts and sums.
///
/// Guarantee: ρ-zCDP with ρ = settings.rho for one record, under zero-out or replace-one, where `draw` gives
/// independent noise for every stage. A record's place is in one part at most, and the releases of every part
/// together are ρ-zCDP (Bun and Steinke 2016, Proposition 1.6 and Lemma 2.3, adaptive; parts in parallel). The number
/// of records and the names of columns are public. Where the unit is the user (Table::users) it is ρ-zCDP for all
/// records of one user: what a user adds to each release is summed and shortened to that release's sensitivity, and
/// since all parts may meet the same user, the parts share ρ (part_rhos()).
///
/// Nothing is released except what TableFit holds, and that all at once, so a caller can commit the spend before it
/// shows any of it.
///
/// Throws InvalidParameter as sizes() does, before `draw` is asked for anything. It takes O(n·d²), and reads the rows
/// of the answer twice.
///
/// Source: coarse to fine as in CoinPress (Biswas et al., arXiv 2006.06618), for a regression.
[[nodiscard]] TableFit fit_linear(const Table& table, const FitSettings& settings, const DrawNoise& draw);

}  // namespace nustream::ranges
