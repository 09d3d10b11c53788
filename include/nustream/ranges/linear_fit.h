// A linear model of a whole table, with nothing to guess: ranges, a pilot and the answer, each over rows of its own.
#pragma once

#include "nustream/ranges/noise_draws.h"
#include "nustream/ranges/table_fit.h"

namespace nustream::ranges {

/// Fits the least squares of the target on an intercept and the features.
///
/// Stages, each a release over a part of its own (stride.h), each at the whole ρ: octaves of every column; equal
/// bins, and zooms where a column needs one; lengths and residuals; a pilot by moments, which gives the centre and
/// the whitening; lengths and residuals about it; the answer, by moments about the pilot with bounds as wide as noise
/// allows. What a stage takes from earlier ones are functions of their noisy counts and sums.
///
/// Guarantee: ρ-zCDP with ρ = settings.rho for one record, zero-out or replace-one, where `draw` gives independent
/// noise for every stage: a record's place is in one part at most, and every part's release is ρ-zCDP (Bun and
/// Steinke 2016, Proposition 1.6 and Lemma 2.3, adaptive; parts in parallel). The number of records and the names of
/// columns are public. Nothing is released but what TableFit holds, and all at once: a caller commits the spend
/// before it shows any of it.
///
/// Throws InvalidParameter as sizes() does, before `draw` is asked for anything. O(n·d²) once over the table.
///
/// Source: coarse to fine as in CoinPress (Biswas et al., arXiv 2006.06618), for a regression.
[[nodiscard]] TableFit fit_linear(const Table& table, const FitSettings& settings, const DrawNoise& draw);

}  // namespace nustream::ranges
