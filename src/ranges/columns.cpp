// Placements of columns from noisy histograms. Octaves give the interval of a column, equal bins its median and
// spread, and a zoom is asked for where the spread is narrower than two bins. Everything here reads noisy counts and
// public figures alone.
#include "nustream/ranges/columns.h"

#include <algorithm>
#include <cmath>

#include "nustream/base/error.h"
#include "ranges/outstanding.h"

namespace nustream::ranges {
namespace {

constexpr std::size_t zero_bin = octave_count;

/// The values of an octave's bin.
Interval values_of(std::size_t bin) {
  if (bin == zero_bin) return {};
  const bool is_positive = bin > zero_bin;
  // Bin zero_bin + 50 holds [512, 1024), and zero_bin − 50 the negative numbers of that size.
  const std::size_t from_zero = is_positive ? bin - zero_bin : zero_bin - bin;
  const int exponent = lowest_octave + static_cast<int>(from_zero) - 1;
  const double inner = std::ldexp(1.0, exponent);
  return is_positive ? Interval{inner, 2 * inner} : Interval{-2 * inner, -inner};
}

/// The values from the lowest to the highest octave that is above the threshold; of the largest count where none is.
Interval outermost(std::span<const double> counts, double threshold) {
  std::optional<Interval> found;
  const auto extend = [&](std::size_t bin) {
    const Interval values = values_of(bin);
    found = found ? Interval{std::min(found->low, values.low), std::max(found->high, values.high)} : values;
  };
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    if (counts[bin] > threshold) extend(bin);
  }
  if (!found) extend(static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin()));
  return *found;
}

/// How many standard deviations of its noise a count of equal bins must exceed to enter a quantile. Of 64 empty bins
/// 4 exceed the lower threshold. They move inner quantiles little, but an outer quantile would follow them.
constexpr double inner_threshold = 1.5;
constexpr double outer_threshold = 3;
/// The histogram says too little about a spread that is narrower than this many bins.
constexpr double fewest_bins = 2;
/// How many bins a zoom adds on each side.
constexpr double margin = 3;
/// A closer look shows one value where two neighbouring bins hold this share of the rows, and no other bin exceeds
/// the threshold of octaves.
constexpr double share_of_one_value = 0.5;
/// Where an interval holds 0, the scale is at least this part of it.
constexpr double coarsest = 1.0 / 32;

/// The width of a normal column between these quantiles, in standard deviations: 1.28 on each side, and 2.05 with a
/// margin for tails.
constexpr double inner_spread = 2.56;
constexpr double outer_spread = 5.3;

/// The first of two neighbouring bins that hold one value, if the counts show no other.
std::optional<std::size_t> one_value(std::span<const double> counts, double stddev, std::uint64_t rows) {
  std::size_t most = 0;
  const auto both = [&](std::size_t bin) { return counts[bin] + counts[bin + 1]; };
  for (std::size_t bin = 1; bin + 1 < counts.size(); ++bin) most = both(bin) > both(most) ? bin : most;
  if (both(most) < share_of_one_value * static_cast<double>(rows)) return std::nullopt;
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    const bool is_other = bin != most && bin != most + 1;
    if (is_other && counts[bin] > octave_threshold * stddev) return std::nullopt;
  }
  return most;
}

/// The bins from `low` to `high` of the interval, with a margin, on the same side of 0. The margin may lie outside
/// the interval, so that a value on its edge is in no outermost bin, where other values would hide it.
Interval zoom(const Interval& interval, double width, double low, double high) {
  Interval zoomed{interval.low + (std::floor(low) - margin) * width,
                  interval.low + (std::ceil(high) + margin) * width};
  if (interval.low > 0) zoomed.low = std::max(zoomed.low, interval.low / 2);
  if (interval.high < 0) zoomed.high = std::min(zoomed.high, interval.high / 2);
  return zoomed;
}

/// The placement of one column, and where to look next.
ColumnChoice choose(std::span<const double> all, double stddev, const Interval& interval, std::uint64_t rows,
                    bool is_closer, bool is_target) {
  if (interval.is_zero()) return {{}, std::nullopt, 0, true};
  // Except for noise, what a closer look counts in its outermost bins lies outside its interval.
  std::vector<double> counts(all.begin(), all.end());
  if (is_closer) counts.front() = counts.back() = 0;
  const auto inner = [&](double q) { return quantile(counts, inner_threshold * stddev, q); };
  const auto outer = [&](double q) { return quantile(counts, outer_threshold * stddev, q).value_or(*inner(q)); };
  const double width = (interval.high - interval.low) / static_cast<double>(counts.size());
  const std::optional<double> median = inner(0.5);
  // No bin stands out, so the middle and half of the interval are all that is known.
  if (!median)
    return {{(interval.low + interval.high) / 2, (interval.high - interval.low) / 2}, std::nullopt, 0, false};
  const double low = outer(0.02);
  const double high = outer(0.98);
  const double spread = std::max((*inner(0.9) - *inner(0.1)) / inner_spread, (high - low) / outer_spread);
  const bool may_be_one = is_closer || (is_target && interval.has_one_sign());
  const auto one = may_be_one ? one_value(counts, stddev, rows) : std::nullopt;
  double scale = (one ? 0.5 : std::max(spread, 0.5)) * width;
  // Where zeros are common and other values rare, the spread is that of the zeros. A scale as small as that would
  // have rows with the rare values scaled away.
  if (!interval.has_one_sign()) scale = std::max(scale, coarsest * (interval.high - interval.low));
  ColumnChoice choice{
      {interval.low + *median * width, scale}, std::nullopt, all.front() + all.back(), one.has_value()};
  if (!interval.has_one_sign() || (!one && spread >= fewest_bins)) return choice;
  const auto first = static_cast<double>(one.value_or(0));
  choice.zoom = one ? zoom(interval, width, first, first + 2) : zoom(interval, width, low, high);
  return choice;
}

}  // namespace

std::size_t octave_bin(double value) noexcept {
  if (!std::isfinite(value)) return no_bin;
  const double size = std::fabs(value);
  if (size < std::ldexp(1.0, lowest_octave)) return zero_bin;
  const auto above = static_cast<std::size_t>(std::min(std::ilogb(size) - lowest_octave, octave_count - 1)) + 1;
  return value > 0 ? zero_bin + above : zero_bin - above;
}

std::vector<Interval> intervals_from_octaves(const NoisyCounts& octaves) {
  NUSTREAM_REQUIRE(octaves.bins() == octave_bins, "a histogram of octaves");
  std::vector<Interval> intervals;
  for (std::size_t j = 0; j < octaves.histograms(); ++j) {
    intervals.push_back(outermost(octaves.histogram(j), octave_threshold * octaves.stddev()));
  }
  return intervals;
}

std::vector<double> usable_shares(const NoisyCounts& octaves) {
  constexpr std::size_t near = 2;  // a bell's hidden octaves are next to those that are seen
  std::vector<double> shares;
  for (std::size_t j = 0; j < octaves.histograms(); ++j) {
    const std::span<const double> counts = octaves.histogram(j);
    std::vector<bool> seen(counts.size());
    for (std::size_t bin = 0; bin < counts.size(); ++bin) {
      seen[bin] = counts[bin] > octave_threshold * octaves.stddev();
    }
    const std::vector<bool> counted = near_others(seen, near);
    double usable = 0;
    for (std::size_t bin = 0; bin < counts.size(); ++bin) usable += counted[bin] ? counts[bin] : 0;
    shares.push_back(octaves.rows() == 0 ? 0 : std::clamp(usable / static_cast<double>(octaves.rows()), 0.0, 1.0));
  }
  return shares;
}

std::size_t equal_bin(const Interval& interval, double value) noexcept {
  if (!std::isfinite(value)) return no_bin;
  // A column of zeros has an interval without width, and one bin holds it all.
  if (!(interval.high > interval.low)) return 0;
  const double bins = static_cast<double>(equal_bins);
  const double at = (value - interval.low) / (interval.high - interval.low) * bins;
  return static_cast<std::size_t>(std::clamp(at, 0.0, bins - 1));
}

std::vector<ColumnChoice> choose_columns(const NoisyCounts& equal, std::span<const Interval> intervals,
                                         bool is_closer, bool has_target) {
  NUSTREAM_REQUIRE(equal.histograms() == intervals.size(), "an interval for every column");
  std::vector<ColumnChoice> choices;
  for (std::size_t j = 0; j < intervals.size(); ++j) {
    const bool is_target = has_target && j + 1 == intervals.size();
    choices.push_back(choose(equal.histogram(j), equal.stddev(), intervals[j], equal.rows(), is_closer, is_target));
  }
  return choices;
}

std::optional<double> quantile(std::span<const double> counts, double threshold, double q) {
  const auto counted = [&](double count) { return count > threshold ? count : 0.0; };
  double total = 0;
  for (const double count : counts) total += counted(count);
  if (!(total > 0)) return std::nullopt;
  double below = 0;
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    const double own = counted(counts[bin]);
    if (own > 0 && below + own >= q * total) return static_cast<double>(bin) + (q * total - below) / own;
    below += own;
  }
  return static_cast<double>(counts.size());
}

}  // namespace nustream::ranges
