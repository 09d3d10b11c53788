// The residuals of the rows of the answer, by size and by side: how wide their bound has to be.
#pragma once

#include <span>

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
  /// No residual is longer than `most`, which comes from an earlier release.
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
  /// The sum of the squares of the bounded residuals.
  [[nodiscard]] double sum_of_squares(double bound) const;
  /// The standard deviation of Σ x·r along a direction of unit second moment, by noise and sampling, under a bound.
  /// The noise of that sum has a standard deviation of `noise_per_unit` for a bound of 1.
  [[nodiscard]] double deviation(double noise_per_unit, double bound) const;
  /// The longest residuals that are seen, of the side that has the longer ones; 0 where none are.
  [[nodiscard]] double longest() const;
  /// Whether the longest ones of one side are more than twice as long as those of the other.
  [[nodiscard]] bool are_skewed() const;
  /// No residual is longer.
  [[nodiscard]] double most() const noexcept { return most_; }
  [[nodiscard]] double rows() const noexcept { return static_cast<double>(counts_.rows()); }

 private:
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
};

/// Makes one release at `rho` over the rows of `part`, of residuals about `centre`, each multiplied by the root of
/// its row's weight. A row has one count. No residual is taken to be longer than `most`.
[[nodiscard]] ResidualTails residual_tails(WorkingRows& rows, const Part& part, const Eigen::VectorXd& centre,
                                           double most, Rho rho, privacy::Adjacency adjacency, const DrawNoise& draw);

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
