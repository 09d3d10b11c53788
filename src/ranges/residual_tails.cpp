// Reads a noisy histogram of residuals, one half for each side of 0. Single bins count where they stand out of their
// noise. Bins that noise hides one by one are looked at in sums of neighbours, because a few long residuals spread
// over many bins can move an answer without showing in any of them.
#include "ranges/residual_tails.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "nustream/ranges/rows.h"
#include "ranges/outstanding.h"

namespace nustream::ranges {
namespace {

constexpr std::size_t sides = 2;
constexpr std::size_t octave = 2;  // bins
/// The share of the deviation of an answer that a bound may move it by unnoticed.
constexpr double small_share = 0.25;
constexpr double small_share_of_both = 0.75;
constexpr double most_on_one_side = 0.75;
/// Counts of several bins are more than noise where their sum is above this number of deviations of its noise. Noise
/// alone is above them in some 3% of the tables, which then get wider intervals than they need, or none.
constexpr double sum_threshold = 2.5;
/// No residuals are expected beyond this multiple of the longest ones that are seen.
constexpr double unseen = 4;
/// Beyond the length that octaves allow, residuals are there where the sum of neighbouring bins is above this
/// number of deviations of its noise. Of the two thousand sums one is above it by noise in fewer than 1 of 20,000
/// tables. A wrong bin out there would widen the bound until noise drowns the answer, so this threshold is high.
constexpr double far_threshold = 5.5;

/// How much longer the residuals of a bin are than `bound`.
double excess(std::size_t bin, double bound) {
  return std::max(0.0, bin_length(bin) - bound);
}

/// The longest residual of a bin.
double upper_end(std::size_t bin) {
  return bin_length(bin) * std::pow(2.0, 0.25);
}

/// The counts of one side that noise hides one by one, from the bound outwards.
struct HiddenSide {
  double counts = 0;
  double bins = 0;
  /// How far their sum is above 0, in deviations of its noise.
  [[nodiscard]] double standing(double stddev) const { return bins > 0 ? counts / (stddev * std::sqrt(bins)) : 0; }
};

}  // namespace

ResidualTails::ResidualTails(const NoisyCounts& counts, double most)
    : counts_(counts),
      most_(most),
      // One octave beyond the bin of `most`. For a length that is not finite length_bin() is no_bin, hence the inner
      // limit.
      end_(std::min(length_bins, std::min(length_bin(most), length_bins) + 1 + octave)),
      together_(sides * length_bins) {
  reach_far_bins();
  show_together();
}

std::span<const double> ResidualTails::counts_of(std::size_t side) const {
  return counts_.histogram(0).subspan(side * length_bins, length_bins);
}

// A part of few rows shows the octaves of the target. Here all rows of the answer are counted, so that residuals may
// show which are longer than any target that was seen there.
void ResidualTails::reach_far_bins() {
  const std::size_t from = end_;
  for (std::size_t side = 0; side < sides; ++side) {
    std::vector<bool> is_taken(length_bins);
    for (;;) {
      const auto is_free = [&](std::size_t bin) { return !is_taken[bin]; };
      const Window found = outstanding(counts_of(side), counts_.stddev(), from, length_bins, 1, is_free);
      if (!(found.standing > far_threshold)) break;
      for (std::size_t i = 0; i < found.bins; ++i) is_taken[found.first + i] = true;
      const std::size_t last = found.first + found.bins - 1;
      most_ = std::max(most_, upper_end(last));
      end_ = std::max(end_, std::min(length_bins, last + 1 + octave));
    }
  }
}

// Bins that show together share their sum evenly, since the count of one of them is mostly noise.
void ResidualTails::show_together() {
  for (std::size_t side = 0; side < sides; ++side) {
    double* const shares = together_.data() + side * length_bins;
    const auto is_free = [&](std::size_t bin) { return shares[bin] == 0 && seen(side, bin) == 0; };
    for (;;) {
      const Window found = outstanding(counts_of(side), counts_.stddev(), 0, end_, 2, is_free);
      if (!(found.standing > octave_threshold)) break;
      std::fill_n(shares + found.first, found.bins, found.sum / static_cast<double>(found.bins));
    }
  }
}

// Beyond the longest residual that there may be, a count above the threshold is noise. One of the hundred bins there
// is above it in a few per cent of all tables, and a bound that went by it would drown the answer in noise.
double ResidualTails::seen(std::size_t side, std::size_t bin) const {
  if (bin >= end_) return 0;
  const double count = counts_of(side)[bin];
  return count > length_threshold * counts_.stddev() ? count : 0;
}

std::size_t ResidualTails::outermost(std::size_t side) const {
  std::size_t bin = length_bins - 1;
  while (bin > 0 && seen(side, bin) == 0) --bin;
  return bin;
}

double ResidualTails::longest() const {
  const std::size_t bin = std::max(outermost(0), outermost(1));
  return bin == 0 ? 0 : upper_end(bin);
}

bool ResidualTails::are_skewed() const {
  const std::size_t above = outermost(0);
  const std::size_t below = outermost(1);
  return std::max(above, below) - std::min(above, below) > octave;
}

template <class Of>
double ResidualTails::sum_over_seen(const Of& of) const {
  double sum = 0;
  for (std::size_t side = 0; side < sides; ++side) {
    for (std::size_t bin = 0; bin < length_bins; ++bin) {
      if (const double count = seen(side, bin); count > 0) sum += of(side, bin, count);
    }
  }
  return sum;
}

double ResidualTails::taken_off(double bound) const {
  const double more_above = sum_over_seen([&](std::size_t side, std::size_t bin, double count) {
    return (side == 0 ? 1 : -1) * count * excess(bin, bound);
  });
  const double guessed = are_skewed() ? taken_off_unseen(bound) : 0;
  return std::fabs(more_above) + std::max(guessed, hidden(bound).on_one_side);
}

// Three per cent of residuals far above the bound may be spread so wide that noise hides each bin's count, while
// their sum is far above its own noise. So bins are added up from the bound outwards, to the length at which the sum
// stands out most.
ResidualTails::Hidden ResidualTails::hidden(double bound) const {
  HiddenSide of[sides];
  double more_above = 0;
  double on_both = 0;
  double squares = 0;
  double most = sum_threshold;
  Hidden found;
  for (std::size_t bin = length_bin(bound); bin < end_; ++bin) {
    const double longer = excess(bin, bound);
    for (std::size_t side = 0; side < sides; ++side) {
      if (seen(side, bin) > 0) continue;
      const double count = counts_of(side)[bin];
      of[side].counts += count;
      ++of[side].bins;
      more_above += (side == 0 ? 1 : -1) * count * longer;
      on_both += count * longer;
      squares += longer * longer;
    }
    const double standing = std::max(of[0].standing(counts_.stddev()), of[1].standing(counts_.stddev()));
    if (standing <= most) continue;
    most = standing;
    found = {std::fabs(more_above), std::fabs(on_both), counts_.stddev() * std::sqrt(squares)};
  }
  return found;
}

// Beyond the last visible bin the counts are extrapolated. They are assumed to fall as fast as in the octave before
// it, or as in that octave's second half if that is faster, because all tails but those of a power law fall faster
// and faster. They are also assumed to fall fast enough that the next bin is invisible.
double ResidualTails::taken_off_unseen(double bound) const {
  const std::size_t side = outermost(0) > outermost(1) ? 0 : 1;
  const std::size_t last = outermost(side);
  double count = seen(side, last);
  double per_bin = length_threshold * counts_.stddev() / count;
  if (const double before = seen(side, last - 1); before > count) per_bin = std::min(per_bin, count / before);
  if (const double before = seen(side, last - octave); before > count)
    per_bin = std::min(per_bin, std::sqrt(count / before));
  double sum = 0;
  for (std::size_t bin = last + 1; bin < length_bins && count > 1; ++bin) {
    count *= per_bin;
    sum += count * excess(bin, bound);
  }
  return sum;
}

double ResidualTails::taken_off_both(double bound) const {
  return sum_over_seen([&](std::size_t, std::size_t bin, double count) { return count * excess(bin, bound); }) +
         hidden(bound).on_both;
}

double ResidualTails::stddev_of_taken_off(double bound) const {
  const double squares =
      sum_over_seen([&](std::size_t, std::size_t bin, double) { return std::pow(excess(bin, bound), 2); });
  return std::hypot(counts_.stddev() * std::sqrt(squares), hidden(bound).stddev);
}

double ResidualTails::sum_of_squares(double bound) const {
  const auto square = [&](std::size_t bin) { return std::pow(std::min(bin_length(bin), bound), 2); };
  double sum = sum_over_seen([&](std::size_t, std::size_t bin, double count) { return count * square(bin); });
  for (std::size_t i = 0; i < together_.size(); ++i) sum += together_[i] * square(i % length_bins);
  return sum;
}

double ResidualTails::rows() const {
  const auto rows = static_cast<double>(counts_.rows());
  if (!counts_.are_of_users()) return rows;
  const double seen = sum_over_seen([](std::size_t, std::size_t, double count) { return count; });
  return std::max(rows, std::accumulate(together_.begin(), together_.end(), seen));
}

double ResidualTails::root_mean_square() const {
  return rows() > 0 ? std::sqrt(sum_of_squares(most_) / rows()) : 0;
}

double ResidualTails::sum() const {
  double sum = sum_over_seen([&](std::size_t side, std::size_t bin, double count) {
    return (side == 0 ? 1 : -1) * count * bin_length(bin);
  });
  for (std::size_t i = 0; i < together_.size(); ++i) {
    sum += (i < length_bins ? 1 : -1) * together_[i] * bin_length(i % length_bins);
  }
  return sum;
}

double ResidualTails::longest_together() const {
  double longest = this->longest();
  for (std::size_t i = 0; i < together_.size(); ++i) {
    if (together_[i] > 0 && i % length_bins > 0) longest = std::max(longest, upper_end(i % length_bins));
  }
  return longest;
}

/// Along a direction of unit second moment Σ x·r varies by sampling as Σ r² does.
double ResidualTails::deviation(double noise_per_unit, double bound) const {
  return std::sqrt(sum_of_squares(bound) + std::pow(bound * noise_per_unit, 2));
}

double tails_share(const TableFit& fit) {
  return fit.is_one_target_seen ? 0.2 : 0.05;
}

double longest_target(const TableFit& fit) {
  const Interval& seen = fit.intervals.back();
  const Placement& placement = fit.placements.back();
  return std::max(seen.high - placement.centre, placement.centre - seen.low) / placement.scale;
}

bool hides_targets(const TableFit& fit, double longest, Rho rho, double pilot_records) {
  constexpr double most_deviations = 12;
  if (!fit.is_one_target_seen) return false;
  // The pilot gives half of ρ to the target moments, so σ² = 1/ρ, and this is the noise of an entry of Σ x·r. If the
  // target is one value, the pilot's θ and so the residuals come from this noise alone.
  const double moment = fit.pilot.inputs * fit.pilot.residuals / std::sqrt(rho.value());
  const double deviation = std::sqrt(static_cast<double>(fit.placements.size())) * moment / pilot_records;
  return longest == 0 || longest <= most_deviations * deviation;
}

ResidualTails residual_tails(WorkingRows& rows, const Part& part, const Residual& residual_of,
                             const TailsDesign& design, const DrawNoise& draw) {
  const RowBins bins_of = [&](const auto& x, double target, double weight, std::span<std::size_t> bins) {
    const double residual = std::sqrt(weight) * residual_of(x, target);
    const std::size_t size = length_bin(std::fabs(residual));
    // Both sides are one histogram, since a row is on one side alone: so Δ is that of a single histogram.
    bins[0] = size == no_bin || residual > 0 ? size : length_bins + size;
  };
  const HistogramDesign histogram{1, sides * length_bins, design.adjacency};
  return ResidualTails(count(rows, part, histogram, design.rho, bins_of, design.stage, draw), design.most);
}

bool takes_much_off(const ResidualTails& tails, double noise_per_unit, double bound) {
  const double deviation = tails.deviation(noise_per_unit, bound);
  const double unsure = tails.stddev_of_taken_off(bound);
  return !(tails.taken_off(bound) + unsure <= most_on_one_side * deviation &&
           tails.taken_off_both(bound) + unsure <= deviation);
}

double residual_bound(const ResidualTails& tails, BoundChoice choice) {
  const double most = std::max(tails.most(), unseen * tails.longest());
  choice.least = std::max(choice.least, bin_length(1));  // above 0, because each step multiplies the bound
  const double of_all = tails.sum_of_squares(tails.most());
  double best = choice.least;
  double least_error = std::numeric_limits<double>::infinity();
  for (double bound = choice.least;; bound *= std::numbers::sqrt2) {
    bound = std::min(bound, std::max(choice.least, most));
    const double off = tails.taken_off(bound);
    const double deviation = tails.deviation(choice.noise_per_unit, bound);
    const double both = tails.taken_off_both(bound);
    // The narrowest bound that moves the answer by no more than its own uncertainty allows.
    if (off <= small_share * deviation && both <= small_share_of_both * deviation) return bound;
    const double error = std::hypot(off, deviation);
    if (error < least_error) {
      least_error = error;
      best = bound;
    }
    // Beyond this a wider bound adds more noise than all residuals add by sampling.
    const double noise = bound * choice.noise_per_unit;
    if (bound >= most || noise * noise > of_all) return best;
  }
}

}  // namespace nustream::ranges
