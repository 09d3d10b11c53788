// Tests of movement and of memory on batch means of a path, coordinate by coordinate. Movement (`moves`, `goes_on`)
// and memory are collected over all coordinates, and one coordinate is enough for a verdict; the thresholds allow for
// their number.
#include "nustream/inference/path_status.h"

#include <boost/math/distributions/fisher_f.hpp>

#include <algorithm>
#include <cmath>

#include "inference/movement.h"
#include "nustream/base/error.h"
#include "nustream/inference/long_run.h"

namespace nustream::inference {
namespace {

constexpr std::size_t groups = 10;

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double squares_about(std::span<const double> values, double mean) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

/// The least-squares slope over the order of the values, per place, and its t.
struct Slope {
  double value;
  double t;
};

Slope slope_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = mean_of(values);
  double cross = 0;
  double spread = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double at = static_cast<double>(i) - (n - 1) / 2;
    cross += at * (values[i] - mean);
    spread += at * at;
  }
  const double slope = cross / spread;
  // The squares that the line leaves. Rounding may take them below 0.
  const double left = std::max(squares_about(values, mean) - slope * cross, 0.0);
  const double deviation = std::sqrt(left / (n - 2) / spread);
  // A path that stands still is 0/0 otherwise, and has not moved.
  return {slope, slope == 0 ? 0 : slope / deviation};
}

/// Ten means of neighbouring batches, with as equal numbers of batches as possible.
std::vector<double> ten_means(std::span<const double> values) {
  std::vector<double> means;
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t begin = g * values.size() / groups;
    means.push_back(mean_of(values.subspan(begin, (g + 1) * values.size() / groups - begin)));
  }
  return means;
}

/// The t of one value against the others.
double apart_from(std::span<const double> others, double value) {
  const auto n = static_cast<double>(others.size());
  const double mean = mean_of(others);
  const double difference = value - mean;
  if (difference == 0) return 0;
  return difference / std::sqrt(squares_about(others, mean) / (n - 1) * (1 + 1 / n));
}

/// The t of the difference between the means of the two halves.
double halves_of(std::span<const double> values) {
  const std::size_t half = values.size() / 2;
  const std::span<const double> early = values.first(half);
  const std::span<const double> late = values.last(half);
  const double difference = mean_of(late) - mean_of(early);
  if (difference == 0) return 0;
  const double squares = squares_about(early, mean_of(early)) + squares_about(late, mean_of(late));
  const auto n = static_cast<double>(half);
  return difference / std::sqrt(squares / (2 * n - 2) * 2 / n);
}

/// The test of memory compares the frequencies above those of long_run_interval(), up to three times as high, with
/// the rest.
constexpr std::size_t middling = 3 * slow_movements;

/// The power of the path at middling frequencies over that at high ones; 0 for a path that stands still.
double memory_of(std::span<const double> values) {
  const std::vector<double> powers = cosine_powers(values, middling);
  const double low = mean_of(std::span(powers).last(middling - slow_movements));
  // All powers add up to the sum of squares about the mean, so the rest is the power at higher frequencies.
  double left = squares_about(values, mean_of(values));
  for (const double power : powers) left -= power;
  const double high = std::max(left, 0.0) / static_cast<double>(values.size() - 1 - middling);
  return low == 0 ? 0 : low / high;
}

/// The ratio that independent values exceed with the probability `false_alarm`.
double most_memory(std::size_t count, double false_alarm) {
  const boost::math::fisher_f ratio(static_cast<double>(middling - slow_movements),
                                    static_cast<double>(count - 1 - middling));
  return boost::math::quantile(boost::math::complement(ratio, false_alarm));
}

/// Whether the later half of the values moves at less than half the speed of the earlier half.
bool slows_down(std::span<const double> values) {
  const std::size_t half = values.size() / 2;
  const double early = std::abs(slope_of(values.first(half)).value);
  const double late = std::abs(slope_of(values.last(half)).value);
  return late < early / 2;
}

/// Whether the last third of the values is spread more than a hundred times as widely as the first third.
bool grew_apart(std::span<const double> values) {
  const std::size_t third = values.size() / 3;
  const std::span<const double> early = values.first(third);
  const std::span<const double> late = values.last(third);
  constexpr double times = 100;
  return squares_about(late, mean_of(late)) > times * times * squares_about(early, mean_of(early));
}

/// The thresholds that a settled path hardly ever exceeds.
struct Thresholds {
  double trend;
  double halves;
  double memory;
};

Thresholds thresholds_of(std::size_t count, double false_alarm) {
  // A sixth of the false alarms is given to the four tests of movement, and the rest to the test of memory.
  const double of_movement = false_alarm / 6 / 4;
  const double freedom_of_halves = 2 * static_cast<double>(count / 2) - 2;
  return {student_quantile(groups - 2.0, 1 - of_movement), student_quantile(freedom_of_halves, 1 - of_movement),
          most_memory(count, false_alarm * 5 / 6)};
}

/// Looks at one coordinate.
void look_at(std::span<const double> values, const Thresholds& thresholds, PathStatus& status, Movement& seen) {
  const std::vector<double> ten = ten_means(values);
  const double trend = std::abs(slope_of(ten).t);
  const double first = std::abs(apart_from(std::span(ten).last(groups - 1), ten.front()));
  const double last = std::abs(apart_from(std::span(ten).first(groups - 1), ten.back()));
  const double halves = std::abs(halves_of(values));
  const double memory = memory_of(values);
  const bool moves = trend > thresholds.trend || halves > thresholds.halves;
  // A first mean apart from the others is what a start leaves behind, so the path converges. A last mean apart says
  // that something happens now, so it drifts.
  seen.moves = seen.moves || moves || first > thresholds.trend;
  seen.goes_on = seen.goes_on || (moves && !slows_down(values)) || last > thresholds.trend;
  seen.remembers = seen.remembers || memory > thresholds.memory;
  seen.apart = seen.apart || grew_apart(values);
  status.trend = std::max(status.trend, trend);
  status.halves = std::max(status.halves, halves);
  status.ends = std::max({status.ends, first, last});
  status.memory = std::max(status.memory, memory);
}

}  // namespace

std::string_view name(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::settled:
      return "settled";
    case Verdict::converging:
      return "converging";
    case Verdict::drifting:
      return "drifting";
    default:
      return "diverged";
  }
}

PathStatus path_status(std::span<const double> means, std::size_t dimension, double false_alarm) {
  NUSTREAM_REQUIRE(dimension > 0 && means.size() % dimension == 0, "batches of d means each");
  const std::size_t count = means.size() / dimension;
  PathStatus status{Verdict::settled, 0, 0, 0, 0, false_alarm};
  const bool finite = std::all_of(means.begin(), means.end(), [](double value) { return std::isfinite(value); });
  if (!finite) return {Verdict::diverged, 0, 0, 0, 0, false_alarm};
  if (count < enough_batches) return {Verdict::converging, 0, 0, 0, 0, false_alarm};

  const double each = false_alarm / static_cast<double>(dimension);
  const Thresholds thresholds = thresholds_of(count, each);
  Movement seen;
  std::vector<double> values(count);
  for (std::size_t j = 0; j < dimension; ++j) {
    for (std::size_t i = 0; i < count; ++i) values[i] = means[i * dimension + j];
    look_at(values, thresholds, status, seen);
  }
  status.verdict = seen.verdict();
  return status;
}

}  // namespace nustream::inference
