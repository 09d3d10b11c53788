// Neighbours that lie on opposite sides of their mean differ by more than their sums do. Steps beyond the minimum,
// from the stability bound on, make such neighbours, as long as the noise of a step is small beside the step.
#include "nustream/inference/swing.h"

#include <boost/math/distributions/fisher_f.hpp>

#include <algorithm>
#include <utility>

#include "nustream/base/error.h"

namespace nustream::inference {
namespace {

/// The mean square of the differences over the variance of the sums, of one coordinate: the values at `first` and
/// `first` + d of each pair of 2d numbers.
double ratio_of(std::span<const double> pairs, std::size_t first, std::size_t dimension) {
  const std::size_t count = pairs.size() / (2 * dimension);
  const auto p = static_cast<double>(count);
  const auto values = [&](std::size_t pair) {
    const std::size_t at = 2 * dimension * pair + first;
    return std::pair(pairs[at], pairs[at + dimension]);
  };
  double mean = 0;  // of the sums
  for (std::size_t i = 0; i < count; ++i) mean += (values(i).first + values(i).second) / p;
  double differences = 0;
  double sums = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [before, after] = values(i);
    differences += (after - before) * (after - before);
    sums += (after + before - mean) * (after + before - mean);
  }
  return differences == 0 ? 0 : differences / p / (sums / (p - 1));
}

}  // namespace

Swing swing_of(std::span<const double> pairs, std::size_t dimension, double false_alarm, double most) {
  NUSTREAM_REQUIRE(dimension > 0 && pairs.size() % (2 * dimension) == 0, "pairs of d coordinates each");
  const std::size_t count = pairs.size() / (2 * dimension);
  if (count < enough_batches) return {};
  const auto p = static_cast<double>(count);
  const boost::math::fisher_f ratios(p, p - 1);
  const double each = false_alarm / static_cast<double>(dimension);
  const double bound = most * boost::math::quantile(boost::math::complement(ratios, each));
  Swing swing;
  for (std::size_t j = 0; j < dimension; ++j) swing.ratio = std::max(swing.ratio, ratio_of(pairs, j, dimension));
  swing.is_seen = swing.ratio > bound;
  return swing;
}

PathStatus swinging_status(std::span<const double> means, std::span<const double> pairs, std::size_t dimension,
                           double false_alarm) {
  const double of_swings = false_alarm / 60;
  PathStatus status = path_status(means, dimension, false_alarm - of_swings);
  const Swing swing = swing_of(pairs, dimension, of_swings);
  status.swing = swing.ratio;
  status.false_alarm = false_alarm;
  if (swing.is_seen) status.verdict = Verdict::diverged;
  return status;
}

}  // namespace nustream::inference
