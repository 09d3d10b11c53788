#include "nustream/ranges/rows.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "nustream/base/error.h"
#include "nustream/ranges/columns.h"

namespace nustream::ranges {
namespace {

constexpr int lowest = -20;
constexpr double bins_per_octave = 2;

/// The length at a place that quantile() gives in bins.
double length_at(double place) {
  return place < 1 ? std::ldexp(place, lowest) : std::exp2(lowest + (place - 1) / bins_per_octave);
}

}  // namespace

std::size_t length_bin(double length) noexcept {
  if (!std::isfinite(length)) return no_bin;
  if (length < std::ldexp(1.0, lowest)) return 0;
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
  const double threshold = length_threshold * lengths.stddev();
  const auto at = [&](std::size_t histogram, double q) {
    const auto place = quantile(lengths.histogram(histogram), threshold, q);
    return place ? std::optional(length_at(*place)) : std::nullopt;
  };
  const auto inputs = at(0, 0.5);
  const auto residuals = at(1, 0.5);
  const auto curvature = has_curvature ? at(2, 0.9) : std::optional(0.0);
  if (!inputs || !residuals || !curvature) return std::nullopt;
  double counted = 0;
  for (const double count : lengths.histogram(0)) counted += count > threshold ? count : 0;
  const double share = lengths.rows() == 0 ? 0 : counted / static_cast<double>(lengths.rows());
  const auto tail = quantile(lengths.histogram(1), octave_threshold * lengths.stddev(), 0.99);
  // The size of a normal residual has its median at 0.6745 and its 0.9 quantile at 1.645 standard deviations. The
  // larger of both guesses is taken, so that heavy tails widen the scale.
  return RowScales{std::max(*inputs, *at(0, 0.9) / 1.4), std::max(*residuals / 0.6745, *at(1, 0.9) / 1.645),
                   tail ? length_at(*tail) : 0, std::clamp(share, 0.0, 1.0), *curvature};
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
