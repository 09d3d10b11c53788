// The residuals of the rows of the answer, by size and by side: how wide their bound has to be.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "nustream/ranges/histogram.h"
#include "ranges/working_rows.h"

namespace nustream::ranges {

/// A noisy histogram of residuals: those above 0 by size in the first half of the bins, those below 0 in the second
/// half. Counts that noise may have made count as 0. All of it is post-processing of one release.
///
/// A bound R shortens every residual beyond it. What it takes off would cancel if residuals were symmetric. Where it
/// does not, the answer is moved, by about the sum of what is taken off over the number of rows.
class ResidualTails {
 public:
  /// Residuals longer than `most`, which comes from an earlier release, are there only where several bins beyond it
  /// stand far out of their noise.
  ResidualTails(const NoisyCounts& counts, double most);

  /// By how much a bound takes more off on one side than on the other, as a sum over the rows. The sum includes what
  /// the bound takes off residuals that noise hides: those that show in several bins together, and, where residuals
  /// are skewed, those that are guessed from how fast the counts decline towards them.
  [[nodiscard]] double taken_off(double bound) const;
  /// What a bound takes off on both sides together. Where rows of one kind have the residuals above, and rows of
  /// another kind those below, the two sides do not cancel, and the answer is moved by both.
  [[nodiscard]] double taken_off_both(double bound) const;
  /// The standard deviation of the noise in taken_off().
  [[nodiscard]] double stddev_of_taken_off(double bound) const;
  /// The sum of the squares of the bounded residuals. Residuals count that show in several bins together.
  [[nodiscard]] double sum_of_squares(double bound) const;
  /// The standard deviation of Σ x·r along a direction of unit second moment, by noise and sampling, under a bound.
  /// The noise of that sum has a standard deviation of `noise_per_unit` for a bound of 1.
  [[nodiscard]] double deviation(double noise_per_unit, double bound) const;
  /// The longest residuals that are seen, of the side that has the longer ones; 0 where none are.
  [[nodiscard]] double longest() const;
  /// The longest residuals that are seen in a bin or in several bins together; 0 where none are.
  [[nodiscard]] double longest_together() const;
  /// The sum of the residuals that are seen in a bin or in several bins together.
  [[nodiscard]] double sum() const;
  /// Whether the longest ones of one side are more than twice as long as those of the other.
  [[nodiscard]] bool are_skewed() const;
  /// No residual is taken to be longer.
  [[nodiscard]] double most() const noexcept { return most_; }
  /// How many rows the residuals are of. Where the unit is the user that is the noisy sum of all counts, or of those
  /// that are seen if these are more: the noise of hundreds of empty bins may hide the former. It is 0 where nothing
  /// is seen.
  [[nodiscard]] double rows() const;
  /// The root mean square of the residuals that are seen; 0 where none are.
  [[nodiscard]] double root_mean_square() const;

 private:
  /// The counts of one side.
  [[nodiscard]] std::span<const double> counts_of(std::size_t side) const;
  void reach_far_bins();
  void show_together();
  [[nodiscard]] double seen(std::size_t side, std::size_t bin) const;
  /// The sum of of(side, bin, count) over all bins that are seen.
  template <class Of>
  [[nodiscard]] double sum_over_seen(const Of& of) const;
  [[nodiscard]] std::size_t outermost(std::size_t side) const;
  [[nodiscard]] double taken_off_unseen(double bound) const;
  /// What a bound takes off in bins whose counts are hidden one by one but show together.
  struct Hidden {
    double on_one_side = 0;  ///< how much more on one side than on the other
    double on_both = 0;      ///< on both together
    double stddev = 0;       ///< of the noise in each of the two
  };
  [[nodiscard]] Hidden hidden(double bound) const;

  NoisyCounts counts_;
  double most_;
  std::size_t end_;  ///< bins from here on hold noise alone
  /// Counts of bins that are hidden one by one and show together; 0 for the others. The bins below 0 come second.
  std::vector<double> together_;
};

/// What the histogram of the residuals of all rows costs, of ρ. Where the columns show one value of the target alone,
/// the few others have to show there, so it costs more.
[[nodiscard]] double tails_share(const TableFit& fit);
/// How long the target's values are at most, by its octaves and in working units. No residual about a sensible answer
/// is longer than twice this length, unless the octaves' part of the rows hides it.
[[nodiscard]] double longest_target(const TableFit& fit);

/// Whether the noise hides all targets but one value: the columns show one value, and no residual is longer than the
/// pilot's noise makes it where the target is that value alone. `longest` is the longest residual that is seen, in
/// working units, and `rho` that of the pilot.
[[nodiscard]] bool hides_targets(const TableFit& fit, double longest, Rho rho, double pilot_records);
/// The middle scale of residuals says too little where their deviation is this many times larger: most targets are
/// then alike, and the others make the deviation.
inline constexpr double mostly_alike = 2;

/// The residual of a row, from its working inputs and its target.
using Residual = std::function<double(const Eigen::Ref<const Eigen::VectorXd>& inputs, double target)>;

/// All of it is public, or comes from earlier releases.
struct TailsDesign {
  double most;  ///< the longest residual by the octaves of the target
  Rho rho;
  privacy::Adjacency adjacency;
  KeyStage stage = KeyStage::tails;
};

/// Makes one release at design.rho over the rows of `part`, of residuals that are each multiplied by the root of
/// their row's weight. A row has one count.
[[nodiscard]] ResidualTails residual_tails(WorkingRows& rows, const Part& part, const Residual& residual_of,
                                           const TailsDesign& design, const DrawNoise& draw);

/// What decides on a bound of residuals. All of it is public, or comes from earlier releases.
struct BoundChoice {
  double least;           ///< the bound where residuals are symmetric
  double noise_per_unit;  ///< as ResidualTails::deviation() has it
};
/// Whether the bound takes more off than intervals can allow for: more than three quarters of the deviation on one
/// side, or more than all of it on both together. The standard deviation of its noise is added to each of the two
/// sums first.
[[nodiscard]] bool takes_much_off(const ResidualTails& tails, double noise_per_unit, double bound);
/// The least of the bounds `least`, √2·`least`, 2·`least`, … that takes off at most a quarter of that deviation on
/// one side, and at most three quarters of it on both together. The search ends where noise costs more than sampling.
/// If no bound up to there is enough, the result is the one of least squared error.
[[nodiscard]] double residual_bound(const ResidualTails& tails, BoundChoice choice);

}  // namespace nustream::ranges
