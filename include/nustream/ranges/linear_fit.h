// A linear model of a whole table, with nothing to guess: ranges, a pilot and the answer, each over rows of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/inference/sandwich.h"
#include "nustream/moments/batch_sums.h"
#include "nustream/privacy/participation.h"
#include "nustream/ranges/columns.h"
#include "nustream/ranges/noise_draws.h"

namespace nustream::ranges {

/// Numbers as they stand in the table, NaN where one cannot be read: rows × features, row-major, and a target a row.
struct Table {
  std::size_t features = 0;  ///< 0: the target's mean
  std::span<const double> x;
  std::span<const double> y;

  [[nodiscard]] std::uint64_t records() const noexcept { return y.size(); }
};

/// Public.
struct FitSettings {
  Rho rho{1};
  privacy::Adjacency adjacency = privacy::Adjacency::zero_out;
  /// Leaves out features of which less than half of the values are usable, by their noisy share; without it such
  /// a feature stays, and every row without it is unusable.
  bool drop_unusable_features = false;
};

/// What was found of rows, in working units.
struct RowBounds {
  double inputs = 0;     ///< R_x
  double residuals = 0;  ///< R_r
  double widening = 0;   ///< f
};

/// Everything that a fit releases: a function of noisy releases and public figures.
struct LinearFit {
  /// By noisy shares too little is usable; then the answer's rows were not touched.
  bool is_stopped = false;
  std::optional<std::size_t> unusable_column;  ///< where it is one column's fault: features() stands for the target
  std::vector<std::size_t> features;           ///< that the model has, rising
  std::vector<double> shares;                  ///< usable values of every column of the table, the target last: noisy
  std::vector<Placement> placements;           ///< of the model's features, then of the target
  std::vector<Interval> intervals;             ///< the same, before zooms: octaves
  std::size_t zooms = 0;                       ///< histograms of equal bins behind the first
  double usable = 0;                           ///< noisy share of usable rows
  RowBounds pilot;
  RowBounds bounds;  ///< of the answer, in whitened units
  std::uint64_t answer_records = 0;
  std::vector<double> theta;  ///< the intercept, then a slope of every model feature; original units
  /// Of theta; empty where they are withheld: where noise hides a direction, or the spread of the residuals.
  std::vector<inference::EstimatedVariance> variances;
  std::size_t floored = 0;  ///< directions that noise hides: there the answer is a guess
};

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
/// columns are public. Nothing is released but what LinearFit holds, and all at once: a caller commits the spend
/// before it shows any of it.
///
/// Throws InvalidParameter as sizes() does, before `draw` is asked for anything. O(n·d²) once over the table.
///
/// Source: coarse to fine as in CoinPress (Biswas et al., arXiv 2006.06618), for a regression.
[[nodiscard]] LinearFit fit_linear(const Table& table, const FitSettings& settings, const DrawNoise& draw);

}  // namespace nustream::ranges
