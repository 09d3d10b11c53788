// Centre and scale of columns, from noisy histograms of their values: what the first stages of private ranges find.
//
// Everything that chooses here takes NoisyCounts and public figures, so that a choice costs nothing beyond the
// counts.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "nustream/ranges/histogram.h"

namespace nustream::ranges {

/// Bins of the first histogram: one for 0, and for each sign one an octave from 2^-20 to 2^40.
inline constexpr int lowest_octave = -20;
inline constexpr int octave_count = 60;
inline constexpr std::size_t octave_bins = 2 * octave_count + 1;
/// Of a value: numbers below 2^-20 count as 0, those from 2^40 on as of the last octave; no_bin where it is not
/// finite.
[[nodiscard]] std::size_t octave_bin(double value) noexcept;

/// Values of a column: [low, high], low < high, or both 0 where only zeros were seen.
struct Interval {
  double low = 0;
  double high = 0;

  [[nodiscard]] bool is_zero() const noexcept { return low == 0 && high == 0; }
  /// Values of one sign: [1000, 1010], not [−1, 5].
  [[nodiscard]] bool has_one_sign() const noexcept { return low > 0 || high < 0; }
};

/// Standard deviations of its noise that a count has to exceed, for a bin of octaves to count as seen. Of 121 empty
/// bins one passes in 1 of 2,400 columns.
inline constexpr double octave_threshold = 4.5;

/// Of every column: the outermost octaves that are seen. Where none is, the largest one is taken.
[[nodiscard]] std::vector<Interval> intervals_from_octaves(const NoisyCounts& octaves);
/// Of every column: the share of the part's rows that the seen bins hold, within [0, 1].
[[nodiscard]] std::vector<double> usable_shares(const NoisyCounts& octaves);

/// Bins of the second histogram, of equal width over a column's interval; values beyond it are of the outermost ones.
inline constexpr std::size_t equal_bins = 64;
[[nodiscard]] std::size_t equal_bin(const Interval& interval, double value) noexcept;

/// A public affine map: (value − centre)/scale.
struct Placement {
  double centre = 0;
  double scale = 1;

  friend bool operator==(const Placement&, const Placement&) = default;
};

/// A column's interval as a histogram of it refines it.
struct ColumnChoice {
  Placement placement;
  /// Where its spread is below two bins and its values have one sign: what to look at next.
  std::optional<Interval> zoom;
};

/// Of every column. The centre is the median; the scale the wider of (q.9 − q.1)/2.56 and (q.98 − q.02)/5.3, at least
/// half a bin, and where the interval holds 0 at least a 32nd of it: a scale that is too small scales rare values
/// away, one that is too large only costs noise. Centre 0 and scale 1 where only zeros were seen.
[[nodiscard]] std::vector<ColumnChoice> choose_columns(const NoisyCounts& equal, std::span<const Interval> intervals);

/// The value below which a share `q` of a histogram's rows lies, as a number of bins from the left end, within one
/// bin linearly. Counts that do not exceed `threshold` are taken for 0. Empty where none does.
[[nodiscard]] std::optional<double> quantile(std::span<const double> counts, double threshold, double q);

}  // namespace nustream::ranges
