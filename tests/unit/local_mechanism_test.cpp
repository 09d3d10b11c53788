// The noise of local privacy against reference numbers, what rounding does, and what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/inference/local_mechanism.h"
#include "nustream/privacy/epsilon.h"

namespace nustream::inference {
namespace {

LocalBounds unit_ball(std::size_t p = 1) {
  return {.dimension = p, .l1 = 1.0};
}

LocalBudget budget(double epsilon, double delta, LocalCalibration calibration = LocalCalibration::exact,
                   LocalNorm norm = LocalNorm::l1) {
  return {Epsilon{epsilon}, Delta{delta}, calibration, norm, 0.5};
}

LocalBudget paper(double epsilon, double delta = 1e-5) {
  return budget(epsilon, delta, LocalCalibration::paper, LocalNorm::paper);
}

// Numbers of an independent implementation: the sd of x xᵀ and x y at ε = 10, δ = 1e-5, r = 1.
TEST(LocalNoise, ThePapersConstants) {
  const LocalNoise noise = local_noise(unit_ball(), paper(10));
  EXPECT_NEAR(noise.second_moment.value(), 1.9943292564143469, 1e-14);
  EXPECT_NEAR(noise.cross_moment.value(), 1.9943292564143469, 1e-14);
}

TEST(LocalNoise, ThePapersConstantsScaleWithTheirBounds) {
  LocalBounds bounds = unit_ball(3);
  bounds.l1 = 3.0;
  bounds.label_upper = 5;
  const LocalNoise noise = local_noise(bounds, paper(0.5, 1e-3));
  const double variance = 32 * std::log(2.5 / 1e-3) / 0.25;
  EXPECT_NEAR(noise.second_moment.value(), std::sqrt(variance * 81), 1e-10);
  EXPECT_NEAR(noise.cross_moment.value(), std::sqrt(variance * 9 * 25), 1e-10);
}

// The same implementation's ratios of the paper's sd to that of the exact curve, for Δ = 2r² and 2r at δ = 1e-5.
TEST(LocalNoise, ThePapersConstantsAreTwelveToNineteenTenthsOfTheExactOnes) {
  const std::vector<std::pair<double, double>> reference{{1, 1.8900334838334791},
                                                         {2, 1.768225171091937},
                                                         {5, 1.581179414659295},
                                                         {10, 1.4105179489283135},
                                                         {20, 1.215519278844598}};
  for (const auto& [epsilon, ratio] : reference) {
    const LocalNoise exact =
        local_noise(unit_ball(), budget(epsilon, 1e-5, LocalCalibration::exact, LocalNorm::paper));
    const LocalNoise literal = local_noise(unit_ball(), paper(epsilon));
    // The exact sd includes what rounding to the grid may cost, some 1e-9, so it is larger by that.
    EXPECT_NEAR(literal.second_moment.value() / exact.second_moment.value(), ratio, 1e-8) << epsilon;
    EXPECT_NEAR(literal.cross_moment.value() / exact.cross_moment.value(), ratio, 1e-8) << epsilon;
  }
}

TEST(LocalNoise, TheExactCurveIsMetFromBelow) {
  for (const double epsilon : {0.05, 0.5, 1.0, 8.0, 40.0}) {
    for (const double delta : {1e-9, 1e-5, 0.01}) {
      for (const LocalNorm norm : {LocalNorm::l1, LocalNorm::l2, LocalNorm::paper}) {
        for (const double split : {0.05, 0.5, 0.9}) {
          LocalBounds bounds = unit_ball(7);
          bounds.l2 = 0.6;
          bounds.label_centre = 0.5;
          LocalBudget wanted = budget(epsilon, delta, LocalCalibration::exact, norm);
          wanted.split = split;
          const LocalMechanism mechanism(bounds, wanted);
          EXPECT_LE(mechanism.epsilon().value(), epsilon * (1 + 1e-12));
          EXPECT_GE(mechanism.epsilon().value(), epsilon * (1 - 1e-5)) << "wasted";
          // As one Gaussian mechanism whose parts are composed, where each part has a bound of its own.
          if (norm != LocalNorm::paper) continue;
          const LocalDisplacement displacement = local_displacement(bounds, norm);
          const double first = displacement.second_moment / mechanism.noise().second_moment.value();
          const double second = displacement.cross_moment / mechanism.noise().cross_moment.value();
          EXPECT_NEAR(first * first / (first * first + second * second), split, 1e-12);
          EXPECT_NEAR(privacy::gaussian_delta(std::hypot(first, second), epsilon), delta, 1e-5 * delta);
        }
      }
    }
  }
}

// x and −x have the same x xᵀ, so the stacked report needs less noise than its parts would need apart.
TEST(LocalNoise, TheStackedReportNeedsLessThanItsParts) {
  const LocalNoise noise = local_noise(unit_ball(10), budget(10, 1e-5));
  const LocalDisplacement displacement = local_displacement(unit_ball(10), LocalNorm::l1);
  const double mu = std::sqrt(2 * privacy::rho_for(Epsilon{10}, Delta{1e-5}).value());
  const double apart = displacement.second_moment / std::sqrt(0.5) / mu;
  EXPECT_NEAR(noise.second_moment.value() / apart, std::sqrt(0.5 * (1 + 0.5 + 1.0 / 16)), 1e-8);
}

TEST(LocalMechanism, RefusesPapersConstantsThatDoNotHold) {
  EXPECT_NO_THROW(LocalMechanism(unit_ball(4), paper(20)));
  try {
    const LocalMechanism mechanism(unit_ball(4), paper(200));
    ADD_FAILURE() << "noise " << mechanism.noise().second_moment.value() << " at epsilon 200 costs "
                  << mechanism.epsilon().value();
  } catch (const InvalidParameter& error) {
    EXPECT_EQ(error.name(), "calibration");
  }
}

TEST(LocalMechanism, RefusesWhatCannotBe) {
  const auto refused = [](const LocalBounds& bounds, const LocalBudget& wanted, const std::string& name) {
    try {
      static_cast<void>(LocalMechanism(bounds, wanted));
      ADD_FAILURE() << name << " was taken";
    } catch (const InvalidParameter& error) {
      EXPECT_EQ(error.name(), name) << error.what();
    }
  };
  refused(unit_ball(), budget(0, 1e-5), "epsilon");
  refused(unit_ball(), budget(1e-12, 1e-300), "epsilon");
  refused(unit_ball(), budget(1e13, 1e-5), "epsilon");
  refused(unit_ball(), budget(1, 1e-5, LocalCalibration::exact, LocalNorm::l2), "x_l2_max");
  LocalBudget split = budget(1, 1e-5);
  for (const double bad : {0.0, 1.0, -0.1, std::numeric_limits<double>::quiet_NaN()}) {
    split.split = bad;
    refused(unit_ball(), split, "split");
  }
  LocalBudget literal = paper(1);
  literal.split = 0.3;
  refused(unit_ball(), literal, "calibration");
}

// ---- reports

/// Words whose Gaussian samples are all (nearly) zero: the radius word is the one nearest to u = 1.
std::vector<std::uint64_t> quiet_words(const LocalMechanism& mechanism) {
  std::vector<std::uint64_t> words(mechanism.words(), 0);
  for (std::size_t i = 0; i < words.size(); i += 2) words[i] = ~std::uint64_t{0};
  return words;
}

TEST(LocalMechanism, ReportsTheUpperTriangleRowByRowThenTheCrossMoments) {
  LocalBounds bounds = unit_ball(3);
  bounds.l1 = 10.0;
  bounds.label_centre = 0.25;
  const LocalMechanism mechanism(bounds, budget(1, 1e-5));
  std::vector<double> x{1, -2, 3};
  auto words = quiet_words(mechanism);
  std::vector<std::int64_t> report(mechanism.report_size());
  static_cast<void>(mechanism.randomize(x, 1, words, report));
  const std::vector<double> expected{1, -2, 3, 4, -6, 9, 0.75, -1.5, 2.25};
  ASSERT_EQ(report.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double spacing = i < 6 ? mechanism.second_moment_spacing() : mechanism.cross_moment_spacing();
    const double stddev = (i < 6 ? mechanism.noise().second_moment : mechanism.noise().cross_moment).value();
    EXPECT_NEAR(static_cast<double>(report[i]) * spacing, expected[i], 1e-6 * stddev) << i;
  }
}

TEST(LocalMechanism, WipesItsWords) {
  const LocalMechanism mechanism(unit_ball(2), budget(1, 1e-5));
  std::vector<std::uint64_t> words(mechanism.words(), 0x123456789abcdef0);
  std::vector<double> x{0.5, 0.5};
  std::vector<std::int64_t> report(mechanism.report_size());
  static_cast<void>(mechanism.randomize(x, 1, words, report));
  EXPECT_EQ(words, std::vector<std::uint64_t>(words.size(), 0));
}

// Under the same words, the reports of two records differ by exactly the difference of their rounded values, so
// nothing shows of the noise's own bits. They never differ by more than the mechanism was calibrated for.
TEST(LocalMechanism, TheSameNoiseOverTwoRecordsDiffersByMultiplesOfThePublicSpacing) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  for (std::size_t setting = 0; setting < 40; ++setting) {
    LocalBounds bounds = unit_ball(1 + setting % 5);
    if (setting % 2 == 0) bounds.l2 = 0.5;
    const LocalBudget wanted =
        budget(std::exp(normal(random)), 1e-6, LocalCalibration::exact, bounds.l2 ? LocalNorm::l2 : LocalNorm::l1);
    const LocalMechanism mechanism(bounds, wanted);
    const std::size_t triangle = mechanism.report_size() - bounds.dimension;
    std::vector<std::int64_t> one(mechanism.report_size()), two(mechanism.report_size());
    for (int trial = 0; trial < 100; ++trial) {
      std::vector<std::uint64_t> words(mechanism.words());
      for (std::uint64_t& word : words) word = random();
      std::vector<std::uint64_t> same = words;
      std::vector<double> x(bounds.dimension), other(bounds.dimension);
      for (double& entry : x) entry = normal(random);
      for (double& entry : other) entry = normal(random);
      static_cast<void>(mechanism.randomize(x, 1, words, one));
      static_cast<void>(mechanism.randomize(other, trial % 3 == 0 ? 0 : 1, same, two));
      double square = 0;
      for (std::size_t i = 0; i < one.size(); ++i) {
        const bool first = i < triangle;
        const double spacing = first ? mechanism.second_moment_spacing() : mechanism.cross_moment_spacing();
        const LocalNoise& noise = mechanism.noise();
        const double apart = static_cast<double>(one[i] - two[i]) * spacing /
                             (first ? noise.second_moment : noise.cross_moment).value();
        square += apart * apart;
        // The records are as they were projected, so each is known to half a spacing, and so is their difference.
        if (!first) continue;
        const std::size_t row = [&] {
          std::size_t r = 0;
          for (std::size_t end = bounds.dimension; i >= end; end += bounds.dimension - r) ++r;
          return r;
        }();
        // The number of entries before those of the row's own columns.
        const std::size_t before = row * bounds.dimension - row * (row + 1) / 2;
        const std::size_t column = i - before;
        const double expected = (x[row] * x[column] - other[row] * other[column]) / spacing;
        ASSERT_NEAR(static_cast<double>(one[i] - two[i]), expected, 1.5);
      }
      ASSERT_LE(std::sqrt(square), mechanism.mu());
    }
  }
}

// Spacings are powers of two, and no sample leads beyond the limits.
TEST(LocalMechanism, LimitsHoldTheFarthestReport) {
  const LocalMechanism mechanism(unit_ball(2), budget(2, 1e-5));
  int exponent = 0;
  EXPECT_EQ(std::frexp(mechanism.second_moment_spacing(), &exponent), 0.5);
  EXPECT_EQ(std::frexp(mechanism.cross_moment_spacing(), &exponent), 0.5);
  for (const std::uint64_t angle : {0ULL, 1ULL << 62, 1ULL << 63, 3ULL << 62}) {
    std::vector<std::uint64_t> words(mechanism.words(), 0);
    for (std::size_t i = 1; i < words.size(); i += 2) words[i] = angle;  // radius word 0 is the smallest u
    for (const double side : {1.0, -1.0}) {
      std::vector<double> x{side, 0};
      std::vector<std::int64_t> report(mechanism.report_size());
      std::vector<std::uint64_t> again = words;
      static_cast<void>(mechanism.randomize(x, 1, again, report));
      for (std::size_t i = 0; i < report.size(); ++i) {
        const std::int64_t limit = i < 3 ? mechanism.second_moment_limit() : mechanism.cross_moment_limit();
        EXPECT_LE(std::abs(report[i]), limit);
      }
    }
  }
  const double deviations = static_cast<double>(mechanism.second_moment_limit()) * mechanism.second_moment_spacing();
  EXPECT_LT(deviations, 9.6 * mechanism.noise().second_moment.value() + 1);
}

// The report of an unusable record is that of a null record: noise alone.
TEST(LocalMechanism, ANullRecordIsReportedAsNoise) {
  LocalBounds bounds = unit_ball(2);
  bounds.label_centre = 0.5;
  const LocalMechanism mechanism(bounds, budget(2, 1e-5));
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> words(mechanism.words());
  for (std::uint64_t& word : words) word = random();
  std::vector<std::int64_t> zero(mechanism.report_size()), broken(mechanism.report_size());
  std::vector<std::uint64_t> again = words;
  std::vector<double> none{0, 0};
  static_cast<void>(mechanism.randomize(none, 0, again, zero));
  std::vector<double> bad{1, std::numeric_limits<double>::quiet_NaN()};
  static_cast<void>(mechanism.randomize(bad, 1, words, broken));
  EXPECT_EQ(zero, broken);
}

}  // namespace
}  // namespace nustream::inference
