// What a fit over a whole table reads, and what it releases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/inference/sandwich.h"
#include "nustream/privacy/participation.h"
#include "nustream/ranges/columns.h"

namespace nustream::ranges {

/// Numbers as they stand in the table, NaN where one cannot be read: rows × features, row-major, and a target a row.
struct Table {
  std::size_t features = 0;  ///< 0: the target's mean
  std::span<const double> x;
  std::span<const double> y;
  /// How much each row counts, 0 or more; NaN makes the row unusable. Empty: all are 1. Of a placed row and its
  /// target everything behind the columns takes the root's multiple (a likelihood: its curvature and score the
  /// weight's) before a bound shortens it, so that no weight widens what a row can do. Columns are placed with every
  /// row once.
  std::span<const double> weights{};

  [[nodiscard]] std::uint64_t records() const noexcept { return y.size(); }
};

/// What is not measured of a column: its values already have it.
struct Kept {
  bool centre = false;  ///< placed about 0
  bool scale = false;   ///< in units of 1
};

/// Public.
struct FitSettings {
  Rho rho{1};
  privacy::Adjacency adjacency = privacy::Adjacency::zero_out;
  /// Leaves out features of which less than half of the values are usable, by their noisy share; without it such
  /// a feature stays, and every row without it is unusable.
  bool drop_unusable_features = false;
  /// One for every feature and one for the target, or empty: nothing is kept. Not together with
  /// drop_unusable_features.
  std::vector<Kept> kept{};
};

/// What was found of rows, in working units.
struct RowBounds {
  double inputs = 0;     ///< R_x
  double residuals = 0;  ///< R_r
  double widening = 0;   ///< f
  double curvature = 0;  ///< K, of a likelihood (likelihood_fit.h)
};

/// Everything that a fit releases: a function of noisy releases and public figures.
struct TableFit {
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
  double largest_second = 0;   ///< eigenvalues of the placed inputs' second moments per record, by the pilot:
  double smallest_second = 0;  ///< floored where noise hides them
  RowBounds bounds;            ///< of the answer, in whitened units
  std::uint64_t answer_records = 0;
  std::vector<double> theta;  ///< the intercept, then a slope of every model feature; original units
  /// Of theta; empty where they are withheld: where noise hides a direction, or the spread of the residuals, and
  /// where rows have weights, since nothing says whether these count records or tell of their precision.
  std::vector<inference::EstimatedVariance> variances;
  bool is_settled = true;   ///< false where the last of several steps was long: the answer is on its way
  std::size_t floored = 0;  ///< directions that noise hides: there the answer is a guess
};

}  // namespace nustream::ranges
