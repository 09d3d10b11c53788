// Cosine powers of a series, and the interval from the slowest of them: their mean estimates the series' power at
// frequency 0, which is what makes its mean vary.
#include "nustream/inference/long_run.h"

#include <cmath>
#include <numbers>

#include "nustream/base/error.h"

namespace nustream::inference {

std::vector<double> cosine_powers(std::span<const double> values, std::size_t count) {
  NUSTREAM_REQUIRE(count < values.size(), "fewer movements than values");
  const auto m = static_cast<double>(values.size());
  std::vector<double> powers;
  for (std::size_t j = 1; j <= count; ++j) {
    const double per_place = std::numbers::pi * static_cast<double>(j) / m;
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      // The first value is subtracted. The cosines add up to zero, so this changes nothing, but it keeps the digits
      // that a large mean would cost.
      sum += (values[i] - values[0]) * std::cos(per_place * (static_cast<double>(i) + 0.5));
    }
    powers.push_back(2 / m * sum * sum);
  }
  return powers;
}

std::optional<Interval> long_run_interval(std::span<const double> values, double level) {
  if (values.size() < 2 * slow_movements) return std::nullopt;
  const auto m = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  double power = 0;
  for (const double each : cosine_powers(values, slow_movements)) power += each;
  power /= static_cast<double>(slow_movements);
  // Each of the powers has one degree of freedom.
  return Interval{sum / m, student_quantile(slow_movements, level) * std::sqrt(power / m)};
}

}  // namespace nustream::inference
