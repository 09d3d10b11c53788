#include "ranges/residual_tails.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "nustream/ranges/rows.h"

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

/// How much longer the residuals of a bin are than `bound`.
double excess(std::size_t bin, double bound) {
  return std::max(0.0, bin_length(bin) - bound);
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
      end_(std::min(length_bins, std::min(length_bin(most), length_bins) + 1 + octave)) {}

// Beyond the longest residual that there may be, a count above the threshold is noise. One of the hundred bins there
// is above it in a few per cent of all tables, and a bound that went by it would drown the answer in noise.
double ResidualTails::seen(std::size_t side, std::size_t bin) const {
  if (bin >= end_) return 0;
  const double count = counts_.histogram(0)[side * length_bins + bin];
  return count > length_threshold * counts_.stddev() ? count : 0;
}

std::size_t ResidualTails::outermost(std::size_t side) const {
  std::size_t bin = length_bins - 1;
  while (bin > 0 && seen(side, bin) == 0) --bin;
  return bin;
}

double ResidualTails::longest() const {
  const std::size_t bin = std::max(outermost(0), outermost(1));
  return bin == 0 ? 0 : bin_length(bin) * std::pow(2.0, 0.25);  // the upper end of the bin
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
      const double count = counts_.histogram(0)[side * length_bins + bin];
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
  return sum_over_seen([&](std::size_t, std::size_t bin, double count) {
    return count * std::pow(std::min(bin_length(bin), bound), 2);
  });
}

double ResidualTails::deviation(double noise_per_unit, double bound) const {
  return std::sqrt(sum_of_squares(bound) + std::pow(bound * noise_per_unit, 2));
}

ResidualTails residual_tails(WorkingRows& rows, const Part& part, const Eigen::VectorXd& centre, double most, Rho rho,
                             privacy::Adjacency adjacency, const DrawNoise& draw) {
  const RowBins bins_of = [&](const auto& x, double target, double weight, std::span<std::size_t> bins) {
    const double residual = std::sqrt(weight) * (target - x.dot(centre));
    const std::size_t size = length_bin(std::fabs(residual));
    bins[0] = size == no_bin || residual > 0 ? size : length_bins + size;
  };
  return ResidualTails(count(rows, part, {1, sides * length_bins, adjacency}, rho, bins_of, KeyStage::tails, draw),
                       most);
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
  double best = choice.least;
  double least_error = std::numeric_limits<double>::infinity();
  for (double bound = choice.least;; bound *= std::numbers::sqrt2) {
    bound = std::min(bound, std::max(choice.least, most));
    const double off = tails.taken_off(bound);
    const double deviation = tails.deviation(choice.noise_per_unit, bound);
    const double both = tails.taken_off_both(bound);
    if (off <= small_share * deviation && both <= small_share_of_both * deviation) return bound;
    const double error = std::hypot(off, deviation);
    if (error < least_error) {
      least_error = error;
      best = bound;
    }
    const double noise = bound * choice.noise_per_unit;
    if (bound >= most || noise * noise > tails.sum_of_squares(bound)) return best;
  }
}

}  // namespace nustream::ranges
