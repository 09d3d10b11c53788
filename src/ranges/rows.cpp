// Scales of rows from noisy histograms of lengths, and the widths of bounds that follow from them. A count enters a
// quantile only if it stands out of its noise, by itself or among neighbours, since a far bin of pure noise would
// stand for a length of up to 2^40.
#include "nustream/ranges/rows.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/ranges/columns.h"
#include "ranges/outstanding.h"

namespace nustream::ranges {
namespace {

constexpr int lowest = -20;
constexpr double bins_per_octave = 2;

/// A count above length_threshold is no noise where it is at most this many bins, two octaves, from one that is
/// certain.
constexpr std::size_t near_bins = 4;

/// The length at a place that quantile() gives in bins.
/// Places count bins from the left edge of the bin in front. The length grows by 2^(1/2) with each bin, except in the
/// bin in front, which holds lengths from 0 to 2^-20 evenly.
double length_at(double place) {
  return place < 1 ? std::ldexp(place, lowest) : std::exp2(lowest + (place - 1) / bins_per_octave);
}

/// The bins whose counts are no noise: those that are certain by themselves or together with their neighbours, and
/// those above length_threshold near a kept one.
///
/// Of 121 bins that hold noise alone, one is above length_threshold in 3 of 100 histograms. It may stand for lengths
/// of 2^40, and in a small table it weighs enough to take a quantile there. So a count by itself, far from all
/// others, has to be above octave_threshold, which noise is in 1 of 5,000 histograms.
std::vector<bool> seen_bins(std::span<const double> counts, double stddev) {
  std::vector<bool> kept(counts.size());
  const Window most = outstanding(counts, stddev, 0, counts.size(), 1, [](std::size_t) { return true; });
  const bool show_together = most.standing > octave_threshold;
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    const bool is_among = show_together && most.holds(bin) && counts[bin] > 0;
    kept[bin] = is_among || counts[bin] > octave_threshold * stddev;
  }
  // A bin that is kept makes its neighbours near, so the search goes on until nothing changes.
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    const std::vector<bool> near = near_others(kept, near_bins);
    for (std::size_t bin = 0; bin < counts.size(); ++bin) {
      if (kept[bin] || !near[bin] || !(counts[bin] > length_threshold * stddev)) continue;
      kept[bin] = is_changed = true;
    }
  }
  return kept;
}

/// What a histogram shows beyond its noise. It refers to the counts, which have to outlive it.
class Seen {
 public:
  Seen(std::span<const double> counts, double stddev)
      : counts_(counts), stddev_(stddev), kept_(seen_bins(counts, stddev)) {}
  /// The quantile of the lengths in the bins that are seen; nothing where none is.
  [[nodiscard]] std::optional<double> length(double q) const {
    std::vector<double> shown(counts_.size());
    for (std::size_t bin = 0; bin < shown.size(); ++bin) shown[bin] = kept_[bin] ? counts_[bin] : 0;
    const auto place = quantile(shown, 0, q);
    return place ? std::optional(length_at(*place)) : std::nullopt;
  }
  struct Sum {
    double counts = 0;
    double stddev = 0;  ///< of the noise in it
  };
  /// The sum of all counts in the bins that are seen and near them. Noise hides counts there as often as it adds
  /// some, so that the sum is not too low, as the sum of the seen bins alone would be.
  [[nodiscard]] Sum sum() const {
    const std::vector<bool> near = near_others(kept_, near_bins);
    Sum sum;
    for (std::size_t bin = 0; bin < near.size(); ++bin) sum.counts += near[bin] ? counts_[bin] : 0;
    sum.stddev = stddev_ * std::sqrt(static_cast<double>(std::ranges::count(near, true)));
    return sum;
  }

 private:
  std::span<const double> counts_;
  double stddev_;
  std::vector<bool> kept_;
};

}  // namespace

std::size_t length_bin(double length) noexcept {
  if (!std::isfinite(length)) return no_bin;
  if (length < std::ldexp(1.0, lowest)) return 0;
  // A length of 1 lies 20 octaves above the lowest: bin 2·20 + 1 = 41.
  const double above = std::floor((std::log2(length) - lowest) * bins_per_octave);
  return static_cast<std::size_t>(std::clamp(above, 0.0, static_cast<double>(length_bins) - 2)) + 1;
}

double bin_length(std::size_t bin) noexcept {
  return bin == 0 ? 0 : length_at(static_cast<double>(bin) + 0.5);
}

std::optional<RowScales> row_scales(const NoisyCounts& lengths) {
  const bool has_curvature = lengths.histograms() == 3;
  NUSTREAM_REQUIRE((lengths.histograms() == 2 || has_curvature) && lengths.bins() == length_bins,
                   "histograms of inputs and residuals");
  const Seen inputs(lengths.histogram(0), lengths.stddev());
  const Seen residuals(lengths.histogram(1), lengths.stddev());
  const auto inputs_middle = inputs.length(0.5);
  const auto residuals_middle = residuals.length(0.5);
  const auto curvature =
      has_curvature ? Seen(lengths.histogram(2), lengths.stddev()).length(0.9) : std::optional(0.0);
  if (!inputs_middle || !residuals_middle || !curvature) return std::nullopt;
  const Seen::Sum counted = inputs.sum();
  const double rows = std::max(1.0, static_cast<double>(lengths.rows()));
  const auto tail = quantile(lengths.histogram(1), octave_threshold * lengths.stddev(), 0.99);
  // The size of a normal residual has its median at 0.6745 and its 0.9 quantile at 1.645 standard deviations. The
  // larger of both guesses is taken, so that heavy tails widen the scale.
  return RowScales{.inputs = std::max(*inputs_middle, *inputs.length(0.9) / 1.4),
                   .residuals = std::max(*residuals_middle / 0.6745, *residuals.length(0.9) / 1.645),
                   .tail = tail ? length_at(*tail) : 0,
                   .counted = std::clamp(counted.counts / rows, 0.0, 1.0),
                   .counted_stddev = counted.stddev / rows,
                   .curvature = *curvature};
}

double widening(Rho target, std::uint64_t rows, std::size_t dimension, double inputs) {
  const auto n = static_cast<double>(rows);
  const auto d = static_cast<double>(dimension);
  const double squared = std::sqrt(d / n * 2 * target.value()) * n / (std::sqrt(d) * inputs);
  return std::clamp(std::sqrt(squared), 2.0, 12.0);
}

double inputs_multiple(double widening, std::size_t dimension) {
  return dimension == 1 ? 1.25 : std::max(2.0, std::sqrt(widening));
}

double residuals_multiple(double widening, std::size_t dimension) {
  return widening * std::max(2.0, widening / 2) / inputs_multiple(widening, dimension);
}

double tight_widening(Rho spread, std::uint64_t rows, double inputs, double widest) {
  constexpr double noise_share = 0.1;
  const double signal = noise_share * static_cast<double>(rows) * std::sqrt(2 * spread.value());
  const double squared = signal / (std::numbers::sqrt2 * inputs * inputs);
  return std::clamp(std::sqrt(squared), std::min(3.0, widest), widest);
}

}  // namespace nustream::ranges
