// Finds the centre and scale of columns from noisy histograms of their values, as the first stages of private ranges
// need them.
//
// Every function that chooses here takes NoisyCounts and public figures alone, so a choice costs nothing beyond the
// counts.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "nustream/ranges/histogram.h"

namespace nustream::ranges {

/// The bins of the first histogram: one for 0, and for each sign one per octave from 2^-40 to 2^64, so that
/// nanoseconds since 1970 are told apart as well as trillionths.
inline constexpr int lowest_octave = -40;
inline constexpr int octave_count = 104;
inline constexpr std::size_t octave_bins = 2 * octave_count + 1;
/// The bin of a value. Numbers below 2^-40 in size count as 0, and those from 2^64 on belong to the last octave. It
/// is no_bin for a value that is not finite.
[[nodiscard]] std::size_t octave_bin(double value) noexcept;

/// The values of a column: [low, high] with low < high, or both 0 where only zeros were seen.
struct Interval {
  double low = 0;
  double high = 0;

  [[nodiscard]] bool is_zero() const noexcept { return low == 0 && high == 0; }
  /// Whether all values have one sign, as in [1000, 1010] but not in [−1, 5].
  [[nodiscard]] bool has_one_sign() const noexcept { return low > 0 || high < 0; }
};

/// How many standard deviations of its noise a count must exceed for a bin of octaves to count as seen. In 1 of 2,900
/// columns one of 209 empty bins exceeds it.
inline constexpr double octave_threshold = 4.65;

/// For every column, the interval from the lowest to the highest octave that is seen. Where none is seen, the bin
/// with the largest count is taken.
[[nodiscard]] std::vector<Interval> intervals_from_octaves(const NoisyCounts& octaves);
/// For every column, the share of the part's rows in the bins that are seen and in the two bins on each side of one,
/// within [0, 1]. Noise may hide the outer octaves of a column whose inner ones are seen.
[[nodiscard]] std::vector<double> usable_shares(const NoisyCounts& octaves);

/// The bins of the second histogram, of equal width over a column's interval. Values outside it count in the
/// outermost bins.
inline constexpr std::size_t equal_bins = 64;
[[nodiscard]] std::size_t equal_bin(const Interval& interval, double value) noexcept;

/// A public affine map: a value becomes (value − centre)/scale.
struct Placement {
  double centre = 0;
  double scale = 1;

  friend bool operator==(const Placement&, const Placement&) = default;
};

/// What a histogram of equal bins says about a column.
struct ColumnChoice {
  Placement placement;
  /// The interval to look at next. It is set where the spread is below two bins and the values have one sign, and in
  /// a closer look also where one value alone is seen, as noise in an empty bin may look like a spread.
  std::optional<Interval> zoom;
  double outermost = 0;  ///< the noisy count of both outermost bins, which hold what lies outside the interval, too
  bool is_one_value = false;  ///< only zeros were seen, or, in a closer look, one value alone
};

/// The choice for every column. The centre is the median. The scale is the wider of (q.9 − q.1)/2.56 and (q.98 −
/// q.02)/5.3, at least half a bin, and at least a 32nd of the interval where that holds 0: a scale that is too small
/// lets the bounds shorten rare values, while one that is too large only costs noise. Where only zeros were seen, the
/// centre is 0 and the scale 1. `is_closer` says that the intervals come from
/// an earlier choice: what lies in their outermost bins then counts in no quantile. `has_target` says that the last
/// column is the target. It is looked at more closely also where noise in empty bins hides that it may have one
/// value: others are found later, among all rows, so that a scale too small for them does no harm.
[[nodiscard]] std::vector<ColumnChoice> choose_columns(const NoisyCounts& equal, std::span<const Interval> intervals,
                                                       bool is_closer = false, bool has_target = false);

/// The value below which a share `q` of a histogram's rows lies, as a number of bins from the left end, interpolated
/// linearly within a bin. Counts that do not exceed `threshold` are taken for 0. Empty where no count exceeds it.
[[nodiscard]] std::optional<double> quantile(std::span<const double> counts, double threshold, double q);

}  // namespace nustream::ranges
