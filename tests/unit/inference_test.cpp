#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "nustream/base/error.h"
#include "nustream/inference/average_noise.h"
#include "nustream/inference/first_stage.h"
#include "nustream/inference/interval.h"
#include "nustream/inference/least_squares.h"
#include "nustream/inference/sandwich.h"
#include "nustream/noise/rational.h"

namespace nustream::inference {
namespace {

// Tables of Student's t and the normal distribution.
TEST(Quantiles, AgreeWithTables) {
  EXPECT_NEAR(student_quantile(9, 0.95), 2.2621571627982049, 1e-12);
  EXPECT_NEAR(student_quantile(1, 0.95), std::tan(0.475 * 3.141592653589793), 1e-12);
  EXPECT_NEAR(student_quantile(30, 0.99), 2.7499956535672486, 1e-12);
  EXPECT_NEAR(normal_quantile(0.95), 1.959963984540054, 1e-13);
  EXPECT_THROW((void)normal_quantile(1.0), InvalidParameter);
  EXPECT_THROW((void)student_quantile(0, 0.9), InvalidParameter);
}

// s with m − 1, divided by √m: values 1 … 4 have s² = 5/3.
TEST(TInterval, DividesTheSpreadByTheRootOfTheCount) {
  const auto interval = t_interval(std::vector{1.0, 2.0, 3.0, 4.0}, 0.95);
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->center, 2.5);
  EXPECT_NEAR(interval->half_width, 3.182446305284263 * std::sqrt(5.0 / 3) / 2, 1e-12);
  EXPECT_FALSE(t_interval(std::vector{1.0}, 0.95));
}

/// Var of the mean by the definition: e as a linear map of w, step by step.
double by_hand(const noise::Correlation& correlation, const AveragedDescent& descent) {
  const auto steps = static_cast<std::size_t>(descent.steps);
  const std::vector<double> b = noise::dense_noise_matrix(correlation, steps);
  std::vector<double> e(steps);
  std::vector<double> sum(steps);
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t s = 0; s < steps; ++s) {
      e[s] = (1 - descent.step_size * descent.curvature) * e[s] - descent.step_size * b[t * steps + s];
      if (t >= descent.from) sum[s] += e[s];
    }
  }
  double squares = 0;
  for (const double entry : sum) squares += entry * entry;
  const auto count = static_cast<double>(descent.steps - descent.from);
  return squares / (count * count);
}

TEST(AveragedNoise, AgreesWithTheDefinition) {
  const noise::Correlation correlations[] = {
      noise::Correlation{noise::Independent{}},
      noise::Correlation{noise::Rational::nu_ftrl(Damping{0.01})},
      noise::Correlation{noise::Rational::nu_ftrl(Damping{1e-4})},
      noise::Correlation{noise::DampedAntiPgd{Damping{0.05}}},
      noise::Correlation{noise::NuFtrl{Damping{0.0}, StepCount{300}}},
      noise::Correlation{noise::AntiPgd{StepCount{300}}},
      noise::windowed_nu(Damping{0.01}, 20, StepCount{300}),
  };
  for (const noise::Correlation& correlation : correlations) {
    for (const AveragedDescent& descent :
         {AveragedDescent{0.1, 1.0, 0, 300}, AveragedDescent{0.05, 0.3, 150, 300}, AveragedDescent{0.2, 0.0, 10, 37},
          AveragedDescent{0.5, 1.7, 299, 300}, AveragedDescent{0.1, 1, 0, 1}}) {
      const double expected = by_hand(correlation, descent);
      EXPECT_NEAR(averaged_noise_variance(correlation, descent), expected, 1e-9 * expected) << correlation.name();
    }
  }
}

// At 2^20 steps, where the definition is out of reach, the two ways agree.
TEST(AveragedNoise, IsTheSameByRecurrenceAndByCoefficients) {
  const auto rational = noise::Rational::nu_ftrl(Damping{1e-3}, 5);
  const noise::Correlation by_recurrence{rational};
  constexpr std::size_t steps = std::size_t{1} << 20U;
  const noise::Correlation by_coefficients{
      noise::Windowed{noise::noise_coefficients(by_recurrence, steps), StepCount{steps}}};
  const AveragedDescent descent{0.01, 0.5, steps / 2, steps};
  const double expected = averaged_noise_variance(by_coefficients, descent);
  EXPECT_NEAR(averaged_noise_variance(by_recurrence, descent), expected, 1e-6 * expected);
}

AverageDesign design(double stddev) {
  return {noise::Correlation{noise::Rational::nu_ftrl(Damping{0.01})}, NoiseStddev{stddev}, StepSize{0.1}, 0, 1, 100};
}

// H = diag(2, 8), S = diag(4, 16): H⁻¹SH⁻¹ = diag(1, ¼), and the noise of each direction by its own curvature.
TEST(AverageCovariance, AddsSamplingAndPrivacy) {
  const std::vector<double> bread{2, 0, 0, 8};
  const std::vector<double> meat{4, 0, 0, 16};
  const auto covariance = average_covariance(bread, meat, design(3.0), StepCount{500});
  ASSERT_TRUE(covariance);
  const auto noise = [&](double curvature) {
    return 9 * averaged_noise_variance(design(3.0).correlation, {0.1, curvature, 100, 500});
  };
  EXPECT_NEAR((*covariance)[0], 1.0 / 400 + noise(2), 1e-12);
  EXPECT_NEAR((*covariance)[3], 0.25 / 400 + noise(8), 1e-12);
  EXPECT_NEAR((*covariance)[1], 0, 1e-15);
}

// Passes over the same records tell no more of the population than the records do.
TEST(AverageCovariance, CountsRecordsOnce) {
  const std::vector<double> identity{1, 0, 0, 1};
  AverageDesign passes = design(1e-9);
  passes.minibatch = 50;
  passes.records = 100;
  const auto covariance = average_covariance(identity, identity, passes, StepCount{500});
  ASSERT_TRUE(covariance);
  EXPECT_NEAR((*covariance)[0], 1.0 / 100, 1e-9);
}

TEST(AverageCovariance, IsSilentWhereNoiseHidesTheMoments) {
  const std::vector<double> identity{1, 0, 0, 1};
  EXPECT_FALSE(average_covariance(std::vector<double>{1, 2, 2, 1}, identity, design(1), StepCount{500}));
  EXPECT_FALSE(average_covariance(identity, std::vector<double>{-1, 0, 0, 1}, design(1), StepCount{500}));
  EXPECT_FALSE(average_covariance(identity, identity, design(1), StepCount{100}));
  EXPECT_FALSE(average_covariance(std::vector<double>{std::nan(""), 0, 0, 1}, identity, design(1), StepCount{500}));
}

/// Rows [1, z1, z2, x1, x2]: one control, two instruments, two regressors.
struct FirstStageTable {
  static constexpr std::size_t rows = 300;
  static constexpr descent::TwoStageShape shape{3, 1, 2};
  std::vector<double> values;
  FirstStageTable() {
    std::mt19937_64 random(4);
    std::normal_distribution<double> normal;
    for (std::size_t i = 0; i < rows; ++i) {
      const double z1 = normal(random);
      const double z2 = normal(random) + 0.3 * z1;
      const double x1 = 1 + 0.4 * z1 - 0.2 * z2 + normal(random);
      const double x2 = -2 + 0.1 * z1 + 0.5 * z2 + 0.5 * x1 + normal(random);
      values.insert(values.end(), {1.0, z1, z2, x1, x2});
    }
  }
  [[nodiscard]] std::vector<double> second_moments() const {
    std::vector<double> mean(25);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < 25; ++j) mean[j] += values[5 * i + j / 5] * values[5 * i + j % 5] / rows;
    }
    return mean;
  }
  /// Residual sum of squares of column `target` on the first `given` columns.
  [[nodiscard]] double residual_squares(std::size_t given, std::size_t target) const {
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < given; ++j) x.push_back(values[5 * i + j]);
      y.push_back(values[5 * i + target]);
    }
    const std::vector<double> theta = ordinary_least_squares({given, x, y}).theta;
    double sum = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      double residual = y[i];
      for (std::size_t j = 0; j < given; ++j) residual -= theta[j] * x[i * given + j];
      sum += residual * residual;
    }
    return sum;
  }
};

TEST(FirstStage, FIsThatOfTheTwoRegressions) {
  const FirstStageTable table;
  const auto strength =
      first_stage_strength(table.second_moments(), FirstStageTable::shape, FirstStageTable::rows, 0);
  ASSERT_TRUE(strength);
  for (std::size_t k = 0; k < 2; ++k) {
    const double full = table.residual_squares(3, 3 + k);
    const double expected = (table.residual_squares(1, 3 + k) - full) / 2 / (full / (FirstStageTable::rows - 3));
    EXPECT_NEAR(strength->f[k], expected, 1e-9 * expected);
    EXPECT_LT(strength->cragg_donald, strength->f[k]);
  }
  EXPECT_GT(strength->cragg_donald, 0);
}

TEST(FirstStage, SaysNothingWhereNoiseMayDecide) {
  const FirstStageTable table;
  const auto with = [&](double stddev, std::uint64_t records) {
    return first_stage_strength(table.second_moments(), FirstStageTable::shape, records, stddev).has_value();
  };
  EXPECT_TRUE(with(0.05, 300));
  EXPECT_FALSE(with(0.5, 300));
  EXPECT_FALSE(with(0, 3));
  std::vector<double> broken = table.second_moments();
  broken[0] = std::nan("");
  EXPECT_FALSE(first_stage_strength(broken, FirstStageTable::shape, 300, 0));
}

}  // namespace
}  // namespace nustream::inference
