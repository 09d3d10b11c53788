#include "nustream/inference/path_status.h"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>

#include "nustream/base/error.h"

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

/// Least squares slope over the order of the values, per place, and its t.
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
  const double left = std::max(squares_about(values, mean) - slope * cross, 0.0);
  const double deviation = std::sqrt(left / (n - 2) / spread);
  return {slope, slope == 0 ? 0 : slope / deviation};
}

/// Ten means of neighbouring batches, as many in each as can be.
std::vector<double> ten_means(std::span<const double> values) {
  std::vector<double> means;
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t begin = g * values.size() / groups;
    means.push_back(mean_of(values.subspan(begin, (g + 1) * values.size() / groups - begin)));
  }
  return means;
}

/// t of one value against the others.
double apart_from(std::span<const double> others, double value) {
  const auto n = static_cast<double>(others.size());
  const double mean = mean_of(others);
  const double difference = value - mean;
  if (difference == 0) return 0;
  return difference / std::sqrt(squares_about(others, mean) / (n - 1) * (1 + 1 / n));
}

/// t of the difference between the means of the two halves.
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

/// Without the trend, which would look like memory.
double lag_one_without_trend(std::span<const double> values) {
  const Slope slope = slope_of(values);
  std::vector<double> left(values.begin(), values.end());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] -= slope.value * static_cast<double>(i);
  return lag_one_correlation(left);
}

bool slows_down(std::span<const double> values) {
  const std::size_t half = values.size() / 2;
  const double early = std::abs(slope_of(values.first(half)).value);
  const double late = std::abs(slope_of(values.last(half)).value);
  return late < early / 2;
}

bool grew_apart(std::span<const double> values) {
  const std::size_t third = values.size() / 3;
  const std::span<const double> early = values.first(third);
  const std::span<const double> late = values.last(third);
  constexpr double times = 100;
  return squares_about(late, mean_of(late)) > times * times * squares_about(early, mean_of(early));
}

double two_sided(double degrees_of_freedom, double false_alarm) {
  return student_quantile(degrees_of_freedom, 1 - false_alarm);
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

double lag_one_correlation(std::span<const double> values) {
  const double mean = mean_of(values);
  const double squares = squares_about(values, mean);
  if (squares == 0) return 0;
  double cross = 0;
  for (std::size_t i = 1; i < values.size(); ++i) cross += (values[i] - mean) * (values[i - 1] - mean);
  return cross / squares;
}

PathStatus path_status(std::span<const double> means, std::size_t dimension, double false_alarm) {
  NUSTREAM_REQUIRE(dimension > 0 && means.size() % dimension == 0, "batches of d means each");
  const std::size_t count = means.size() / dimension;
  PathStatus status{Verdict::settled, 0, 0, 0, 0, false_alarm};
  const bool finite = std::all_of(means.begin(), means.end(), [](double value) { return std::isfinite(value); });
  if (!finite) return {Verdict::diverged, 0, 0, 0, 0, false_alarm};
  if (count < groups) return {Verdict::converging, 0, 0, 0, 0, false_alarm};

  const double share = false_alarm / 5 / static_cast<double>(dimension);
  const double most_trend = two_sided(groups - 2.0, share);
  const double most_halves = two_sided(2 * static_cast<double>(count / 2) - 2, share);
  // r̂ of m independent values, their trend removed, is about normal, of mean −2/m and variance 1/m.
  const auto m = static_cast<double>(count);
  const double most_lag =
      boost::math::quantile(boost::math::complement(boost::math::normal(), share)) / std::sqrt(m) - 2 / m;
  bool moves = false;
  bool remembers = false;
  bool goes_on = false;
  bool apart = false;
  std::vector<double> values(count);
  for (std::size_t j = 0; j < dimension; ++j) {
    for (std::size_t i = 0; i < count; ++i) values[i] = means[i * dimension + j];
    const std::vector<double> ten = ten_means(values);
    const double trend = std::abs(slope_of(ten).t);
    const double first = std::abs(apart_from(std::span(ten).last(groups - 1), ten.front()));
    const double last = std::abs(apart_from(std::span(ten).first(groups - 1), ten.back()));
    const double halves = std::abs(halves_of(values));
    const double lag = lag_one_without_trend(values);
    const bool this_moves = trend > most_trend || halves > most_halves;
    moves = moves || this_moves || first > most_trend;
    goes_on = goes_on || (this_moves && !slows_down(values)) || last > most_trend;
    remembers = remembers || lag > most_lag;
    apart = apart || grew_apart(values);
    status.trend = std::max(status.trend, trend);
    status.halves = std::max(status.halves, halves);
    status.ends = std::max({status.ends, first, last});
    status.lag_one = std::max(status.lag_one, lag);
  }
  status.verdict = apart       ? Verdict::diverged
                   : goes_on   ? Verdict::drifting
                   : moves     ? Verdict::converging
                   : remembers ? Verdict::converging
                               : Verdict::settled;
  return status;
}

std::optional<Interval> dependent_t_interval(std::span<const double> values, double level) {
  if (values.size() < 4) return std::nullopt;
  const auto m = static_cast<double>(values.size());
  const double found = lag_one_correlation(values);
  const double r = std::clamp(found + (1 + 3 * found) / m, 0.0, 0.9);
  const double longer = (1 + r) / (1 - r);
  const double mean = mean_of(values);
  const double freedom = std::max((m - 1) / longer, 1.0);
  const double deviation = std::sqrt(squares_about(values, mean) / (m - 1) * longer / m);
  return Interval{mean, student_quantile(freedom, level) * deviation};
}

}  // namespace nustream::inference
