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
#include "nustream/record/batch.h"

namespace nustream::ranges {

/// The public bounds of what rows count. A fit is computed in units of them, and what it finds is in the table's own
/// units again. So the answer does not depend on these units, except by rounding.
struct PublicUnits {
  double weight = 1;  ///< the bound of weights, without the exposure's part in them
  /// The bound of exposures, where the targets are counts over exposures (rates); otherwise 1.
  double exposure = 1;
};

/// The numbers as they stand in the table, NaN where one cannot be read: rows × features, row-major, and one target a
/// row.
struct Table {
  std::size_t features = 0;  ///< 0: only the target's mean is fitted
  std::span<const double> x;
  std::span<const double> y;
  /// How much each row counts: 0 or more, or NaN for a row that is unusable. Empty: all rows count once. After the
  /// columns are placed, a row and its target are multiplied by the root of the weight (for a likelihood, its
  /// curvature and score by the weight) before a bound shortens them, so that no weight widens what a row can do. To
  /// place the columns every row counts once.
  std::span<const double> weights{};
  /// Whose each row is. Empty: the unit of privacy is the record. Otherwise it is the user, and rows of nobody add
  /// nothing to any release.
  std::span<const record::RowUser> users{};
  PublicUnits units{};

  [[nodiscard]] std::uint64_t records() const noexcept { return y.size(); }
};

/// Which parts of a column's placement are not measured, because its values are placed that way already.
struct Kept {
  bool centre = false;  ///< placed about 0
  bool scale = false;   ///< in units of 1
};

/// A linear fit gives no intervals where its bound on residuals is less than this multiple of r₀, the scale of the
/// residuals (RowScales). The bound then clips so many residuals that the intervals would mostly show what is left of
/// the pilot's error, and little is known about that rest.
inline constexpr double narrowest_for_intervals = 3;

/// The settings of a fit. They are public.
struct FitSettings {
  Rho rho{1};
  privacy::Adjacency adjacency = privacy::Adjacency::zero_out;
  /// So many features, the first ones, are left out where they have less than half as many usable values as the
  /// target, by noisy shares. Lines that are no record at all lower both shares, so they do not count against the
  /// feature. The features behind them were asked for: such a feature stays, every row that lacks it is unusable, and
  /// there is no fit where hardly any row has it.
  std::size_t droppable = 0;
  /// One entry for every feature and one for the target; empty: nothing is kept. It cannot be combined with
  /// `droppable`.
  std::vector<Kept> kept{};

  /// The same at another ρ, for a part of the fit.
  [[nodiscard]] FitSettings at(Rho of_part) const { return {of_part, adjacency, droppable, kept}; }
};

/// The bounds that were found for rows, in working units.
struct RowBounds {
  double inputs = 0;     ///< R_x
  double residuals = 0;  ///< R_r
  double widening = 0;   ///< f
  double curvature = 0;  ///< K, for a likelihood (likelihood_fit.h)
  double balanced = 0;   ///< of a linear fit: the R_r that goes with an R_x about as wide, f·r₀, for later sums
};

/// Everything that a fit releases. It is a function of noisy releases and public figures.
struct TableFit {
  /// Whether the fit stopped because, by noisy shares, too little is usable. The rows of the answer were then not
  /// touched. It stops also where is_target_hidden says so.
  bool is_stopped = false;
  std::optional<std::size_t> unusable_column;  ///< column at fault, if it is only one; the number of features stands
                                               ///< for the target
  std::vector<std::size_t> features;           ///< features of the model, rising
  std::vector<double> shares;                  ///< noisy shares of usable values of every column of the table, the
                                               ///< target last; for users, shares of the counts of the column that
                                               ///< has most
  std::vector<Placement> placements;           ///< of the model's features, then of the target
  std::vector<Interval> intervals;             ///< the same columns as octaves show them, before zooms
  std::size_t zooms = 0;                       ///< number of histograms of equal bins after the first
  bool is_one_target_seen = false;             ///< whether the columns' histograms show one value of the target alone
  bool is_target_hidden = false;               ///< noise hides every other one among all rows, too: a fit of numbers
                                               ///< or counts is stopped, and a logistic one has no answer in theta,
                                               ///< though its ranges of inputs stand
  double usable = 0;                           ///< noisy share of usable rows
  double usable_stddev = 0;                    ///< of the noise in it
  RowBounds pilot;
  double largest_second = 0;   ///< eigenvalues of the placed inputs' second moments per record, by the pilot
  double smallest_second = 0;  ///< like largest_second; floored where noise hides it
  double mean_weight = 1;      ///< of the pilot's rows, noisy; 1 where rows have no weights
  RowBounds bounds;            ///< bounds of the answer, in whitened units
  std::uint64_t answer_records = 0;
  std::vector<double> theta;  ///< intercept, then a slope for every feature of the model; original units
  /// The variances of theta, by noise, by sampling, and by what the bound on residuals leaves of the pilot's error;
  /// empty where they are withheld. They are withheld where noise hides a direction (in the pilot too) or the spread
  /// of the residuals, where the bound of residuals is narrow (narrowest_for_intervals), where the unit is the user,
  /// whose rows are no independent records, and where rows have weights, since nothing says whether weights count
  /// records or express their precision.
  std::vector<inference::EstimatedVariance> variances;
  /// The standard deviation of what noise alone adds to each entry of theta, to first order. Where noise hides a
  /// direction nearly, or labels are nearly separated, the real deviation is up to half as large again. The deviation
  /// of an entry by sampling is not in it, nor what a hidden direction may add: it says nothing of the entries that
  /// are undetermined.
  std::vector<double> noise_stddevs{};
  bool is_label_hidden = false;  ///< noise hides how many records have the rarer of two labels
  /// False where the last of several steps was long, or began at far too large a mean of counts: the answer had not
  /// settled. False also where a label is hidden.
  bool is_settled = true;
  std::size_t floored = 0;  ///< directions that noise hides: there the answer is a guess
  /// Entries of theta of which a tenth of the length or more lies along hidden directions, rising: their numbers are
  /// guesses.
  std::vector<std::size_t> undetermined{};
};

}  // namespace nustream::ranges
