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
/// No residuals are expected beyond so many times the longest ones that are seen.
constexpr double unseen = 4;

/// How much longer the residuals of a bin are than `bound`.
double excess(std::size_t bin, double bound) {
  return std::max(0.0, bin_length(bin) - bound);
}

}  // namespace

ResidualTails::ResidualTails(const NoisyCounts& counts) : counts_(counts) {}

double ResidualTails::seen(std::size_t side, std::size_t bin) const {
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
  return std::fabs(more_above) + (are_skewed() ? taken_off_unseen(bound) : 0);
}

// Beyond the last bin that is seen, counts are taken to decline as they did over the octave before or over its second
// half, whichever is faster, since tails that are not those of a power fall ever faster; and so fast that the next
// bin is not seen.
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
  return sum_over_seen([&](std::size_t, std::size_t bin, double count) { return count * excess(bin, bound); });
}

double ResidualTails::stddev_of_taken_off(double bound) const {
  const double squares =
      sum_over_seen([&](std::size_t, std::size_t bin, double) { return std::pow(excess(bin, bound), 2); });
  return counts_.stddev() * std::sqrt(squares);
}

double ResidualTails::sum_of_squares(double bound) const {
  return sum_over_seen([&](std::size_t, std::size_t bin, double count) {
    return count * std::pow(std::min(bin_length(bin), bound), 2);
  });
}

double ResidualTails::deviation(double noise_per_unit, double bound) const {
  return std::sqrt(sum_of_squares(bound) + std::pow(bound * noise_per_unit, 2));
}

ResidualTails residual_tails(WorkingRows& rows, const Part& part, const Eigen::VectorXd& centre, Rho rho,
                             privacy::Adjacency adjacency, const DrawNoise& draw) {
  const RowBins bins_of = [&](const auto& x, double target, double weight, std::span<std::size_t> bins) {
    const double residual = std::sqrt(weight) * (target - x.dot(centre));
    const std::size_t size = length_bin(std::fabs(residual));
    bins[0] = size == no_bin || residual > 0 ? size : length_bins + size;
  };
  return ResidualTails(count(rows, part, {1, sides * length_bins, adjacency}, rho, bins_of, KeyStage::tails, draw));
}

bool takes_much_off(const ResidualTails& tails, double noise_per_unit, double bound) {
  const double deviation = tails.deviation(noise_per_unit, bound);
  const double unsure = tails.stddev_of_taken_off(bound);
  return !(tails.taken_off(bound) + unsure <= most_on_one_side * deviation &&
           tails.taken_off_both(bound) + unsure <= deviation);
}

double residual_bound(const ResidualTails& tails, BoundChoice choice) {
  choice.most = std::max(choice.most, unseen * tails.longest());
  choice.least = std::max(choice.least, bin_length(1));  // above 0, so that the steps lead on
  double best = choice.least;
  double least_error = std::numeric_limits<double>::infinity();
  for (double bound = choice.least;; bound *= std::numbers::sqrt2) {
    bound = std::min(bound, std::max(choice.least, choice.most));
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
    if (bound >= choice.most || noise * noise > tails.sum_of_squares(bound)) return best;
  }
}

}  // namespace nustream::ranges
