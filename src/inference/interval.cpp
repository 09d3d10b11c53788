// Quantiles by Boost's complements, which keep their digits for levels near 1, and the t interval of a handful of
// values.
#include "nustream/inference/interval.h"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include <cmath>
#include <string>

#include "nustream/base/error.h"

namespace nustream::inference {
namespace {

/// Half of what a two-sided interval leaves out.
double upper_tail(double level) {
  const bool is_share = level > 0 && level < 1;  // false for a NaN, too
  if (!is_share) {
    throw InvalidParameter("level", std::to_string(level), "a number between 0 and 1");
  }
  return (1 - level) / 2;
}

}  // namespace

double student_quantile(double degrees_of_freedom, double level) {
  if (!(degrees_of_freedom > 0)) {
    throw InvalidParameter("degrees_of_freedom", std::to_string(degrees_of_freedom), "a number > 0");
  }
  if (std::isinf(degrees_of_freedom)) return normal_quantile(level);
  return quantile(complement(boost::math::students_t(degrees_of_freedom), upper_tail(level)));
}

double normal_quantile(double level) {
  return quantile(complement(boost::math::normal(), upper_tail(level)));
}

std::optional<Interval> t_interval(std::span<const double> values, double level) {
  const auto m = static_cast<double>(values.size());
  if (values.size() < 2) return std::nullopt;
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / m;
  // Squares about the mean: a difference of large sums would lose the digits of values that lie close together.
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double stddev = std::sqrt(squares / (m - 1));
  return Interval{mean, student_quantile(m - 1, level) * stddev / std::sqrt(m)};
}

}  // namespace nustream::inference
