// The noise of many reports: its distribution, its independence, and that the worst pair of records can be told apart
// exactly as well as the budget allows. The seeds are fixed; each check would fail for one seed in some thousands.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "nustream/inference/local_mechanism.h"
#include "nustream/privacy/epsilon.h"

namespace nustream::inference {
namespace {

/// Reports of one record in units of the noise, row-major.
std::vector<double> reports(const LocalMechanism& mechanism, const std::vector<double>& x, double y, int count,
                            std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t size = mechanism.report_size();
  const std::size_t triangle = size - mechanism.bounds().dimension;
  std::vector<double> values;
  std::vector<std::uint64_t> words(mechanism.words());
  std::vector<std::int64_t> report(size);
  for (int i = 0; i < count; ++i) {
    for (std::uint64_t& word : words) word = random();
    std::vector<double> row = x;
    static_cast<void>(mechanism.randomize(row, y, words, report));
    for (std::size_t j = 0; j < size; ++j) {
      const double unit = j < triangle ? mechanism.second_moment_spacing() / mechanism.noise().second_moment.value()
                                       : mechanism.cross_moment_spacing() / mechanism.noise().cross_moment.value();
      values.push_back(static_cast<double>(report[j]) * unit);
    }
  }
  return values;
}

LocalMechanism mechanism() {
  const LocalBounds bounds{.dimension = 3, .l1 = 4.0, .l2 = 1.0};
  return {bounds, {Epsilon{3}, Delta{1e-4}, LocalCalibration::exact, LocalNorm::l2, 0.4}};
}

// Kolmogorov's distance of 200,000 samples from the normal distribution is beyond 1.95/√n for one seed in a thousand.
TEST(LocalNoise, IsStandardNormalInItsUnits) {
  const int count = 200'000;
  const std::vector<double> values = reports(mechanism(), {0, 0, 0}, 0, count, 11);
  const std::size_t size = mechanism().report_size();
  for (std::size_t j = 0; j < size; ++j) {
    std::vector<double> column;
    for (std::size_t i = j; i < values.size(); i += size) column.push_back(values[i]);
    std::ranges::sort(column);
    double distance = 0;
    for (std::size_t i = 0; i < column.size(); ++i) {
      const double normal = 0.5 * std::erfc(-column[i] / std::sqrt(2.0));
      distance = std::max({distance, std::fabs(normal - static_cast<double>(i) / count),
                           std::fabs(normal - static_cast<double>(i + 1) / count)});
    }
    EXPECT_LT(distance, 2.1 / std::sqrt(double{count})) << "entry " << j;
  }
}

// The correlations of 36 pairs of entries; each is beyond 4.2/√n for one seed in 40,000.
TEST(LocalNoise, IsIndependentFromEntryToEntry) {
  const int count = 200'000;
  const std::vector<double> values = reports(mechanism(), {0, 0, 0}, 0, count, 12);
  const std::size_t size = mechanism().report_size();
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      double product = 0;
      double squares = 0;
      for (std::size_t i = 0; i < values.size(); i += size) {
        product += values[i + a] * values[i + b];
        squares += values[i + a] * values[i + a] * values[i + b] * values[i + b];
      }
      EXPECT_LT(std::fabs(product) / count, 4.2 / std::sqrt(double{count})) << a << ' ' << b;
      // Squares are tested too: the sine and cosine of one pair of words have the same radius.
      EXPECT_NEAR(squares / count, 1, 4.2 * std::sqrt(8.0 / count)) << a << ' ' << b;
    }
  }
}

// Two records at the supremum of both parts. Along their difference the means of their reports are μ apart, and the
// best test of one record against the other, at the level that ε names, has the δ that was promised.
TEST(LocalMechanism, TheWorstPairIsToldApartAsWellAsTheBudgetAllows) {
  const LocalMechanism one = mechanism();
  const double sd1 = one.noise().second_moment.value();
  const double sd2 = one.noise().cross_moment.value();
  // With h = B/(2A) of local_mu(), sin 2φ = h.
  const double h = std::min(1.0, sd1 * sd1 / (sd2 * sd2) / 2);
  const double phi = std::asin(h) / 2;
  const std::vector<double> x{std::cos(phi), std::sin(phi), 0};
  const std::vector<double> other{-std::sin(phi), -std::cos(phi), 0};
  const int count = 400'000;
  const std::vector<double> here = reports(one, x, 1, count, 13);
  const std::vector<double> there = reports(one, other, 1, count, 14);
  const std::size_t size = one.report_size();
  std::vector<double> direction(size, 0.0);
  for (std::size_t i = 0; i < here.size(); ++i) direction[i % size] += (here[i] - there[i]) / count;
  double length = 0;
  for (const double entry : direction) length += entry * entry;
  length = std::sqrt(length);
  EXPECT_NEAR(length, one.mu(), 4.5 * std::sqrt(2.0 * static_cast<double>(size) / count));

  // By Neyman and Pearson the best test gives P(loss > ε) − e^ε P'(loss > ε), here on a line along the difference.
  const auto tail = [&](const std::vector<double>& values, double threshold) {
    int above = 0;
    for (std::size_t i = 0; i < values.size(); i += size) {
      double along = 0;
      for (std::size_t j = 0; j < size; ++j) along += values[i + j] * direction[j] / length;
      above += along > threshold ? 1 : 0;
    }
    return static_cast<double>(above) / count;
  };
  double centre = 0;
  for (std::size_t i = 0; i < here.size(); ++i) {
    centre += (here[i] + there[i]) / 2 * direction[i % size] / length / count;
  }
  for (const double epsilon : {0.5, 1.0, 2.0}) {
    const double threshold = centre + epsilon / one.mu();
    const double p = tail(here, threshold);
    const double q = tail(there, threshold);
    const double error = std::sqrt(p / count) + std::exp(epsilon) * std::sqrt(q / count);
    EXPECT_NEAR(p - std::exp(epsilon) * q, privacy::gaussian_delta(one.mu(), epsilon), 4.5 * error) << epsilon;
  }
}

}  // namespace
}  // namespace nustream::inference
