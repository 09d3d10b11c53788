// The profile of a column against the sorted numbers themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "check/column_profile.h"

namespace nustream::check {
namespace {

ColumnProfile profile_of(const std::vector<double>& values) {
  ColumnProfile profile;
  for (const double value : values) profile.add(value);
  return profile;
}

/// The definition of a quantile: the smallest number that a share q of all numbers does not exceed.
double quantile_by_definition(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (static_cast<double>(i + 1) >= q * static_cast<double>(values.size())) return values[i];
  }
  return values.back();
}

TEST(ColumnProfile, OfNothingIsUnknown) {
  const ColumnProfile nothing;
  EXPECT_EQ(nothing.count(), 0U);
  EXPECT_TRUE(std::isnan(nothing.smallest()));
  EXPECT_TRUE(std::isnan(nothing.largest()));
  EXPECT_TRUE(std::isnan(nothing.mean()));
  EXPECT_TRUE(std::isnan(nothing.standard_deviation()));
  EXPECT_TRUE(std::isnan(nothing.quantile(0.5)));
}

TEST(ColumnProfile, IsExactForSmallStreams) {
  std::mt19937_64 random(11);
  for (const std::size_t size : {1U, 2U, 3U, 10U, 999U}) {
    std::vector<double> values(size);
    std::normal_distribution<double> normal(1e6, 3);
    for (double& value : values) value = normal(random);
    const ColumnProfile profile = profile_of(values);
    EXPECT_TRUE(profile.is_exact());
    EXPECT_EQ(profile.count(), size);
    EXPECT_EQ(profile.smallest(), *std::min_element(values.begin(), values.end()));
    EXPECT_EQ(profile.largest(), *std::max_element(values.begin(), values.end()));
    const double n = static_cast<double>(size);
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    EXPECT_NEAR(profile.mean(), mean, 1e-6);
    EXPECT_NEAR(profile.standard_deviation(), size == 1 ? 0 : std::sqrt(squares / (n - 1)), 1e-6);
    for (const double q : {0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0}) {
      EXPECT_EQ(profile.quantile(q), quantile_by_definition(values, q)) << "q = " << q << " of " << size;
    }
  }
}

// By the inequality of Dvoretzky, Kiefer and Wolfowitz a sample of 65,536 is off by .01 in rank with probability
// 4e-6; the seeds of both the numbers and the sample are fixed. The numbers rise, so a sample that kept the first or
// the last of them would show.
TEST(ColumnProfile, SamplesLongStreamsEvenly) {
  constexpr std::size_t size = 1'000'000;
  ColumnProfile profile;
  for (std::size_t i = 0; i < size; ++i) profile.add(static_cast<double>(i));
  EXPECT_FALSE(profile.is_exact());
  EXPECT_EQ(profile.count(), size);
  EXPECT_EQ(profile.smallest(), 0);
  EXPECT_EQ(profile.largest(), static_cast<double>(size - 1));
  EXPECT_NEAR(profile.mean(), 0.5 * (size - 1), 1e-3);
  for (const double q : {0.05, 0.25, 0.5, 0.75, 0.95}) {
    EXPECT_NEAR(profile.quantile(q) / size, q, 0.01) << "q = " << q;
  }
}

}  // namespace
}  // namespace nustream::check
