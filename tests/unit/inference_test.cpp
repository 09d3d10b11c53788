#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "nustream/base/error.h"
#include "nustream/inference/adassp.h"
#include "nustream/inference/average_noise.h"
#include "nustream/inference/first_stage.h"
#include "nustream/inference/interval.h"
#include "nustream/inference/least_squares.h"
#include "nustream/inference/sandwich.h"
#include "nustream/noise/rational.h"

namespace nustream::inference {
namespace {

// The expected numbers are from tables of Student's t and of the normal distribution.
TEST(Quantiles, AgreeWithTables) {
  EXPECT_NEAR(student_quantile(9, 0.95), 2.2621571627982049, 1e-12);
  EXPECT_NEAR(student_quantile(1, 0.95), std::tan(0.475 * 3.141592653589793), 1e-12);
  EXPECT_NEAR(student_quantile(30, 0.99), 2.7499956535672486, 1e-12);
  EXPECT_NEAR(normal_quantile(0.95), 1.959963984540054, 1e-13);
  EXPECT_THROW((void)normal_quantile(1.0), InvalidParameter);
  EXPECT_THROW((void)student_quantile(0, 0.9), InvalidParameter);
}

// The interval uses s with the divisor m − 1, over √m: the values 1 … 4 have s² = 5/3.
TEST(TInterval, DividesTheSpreadByTheRootOfTheCount) {
  const auto interval = t_interval(std::vector{1.0, 2.0, 3.0, 4.0}, 0.95);
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->center, 2.5);
  EXPECT_NEAR(interval->half_width, 3.182446305284263 * std::sqrt(5.0 / 3) / 2, 1e-12);
  EXPECT_FALSE(t_interval(std::vector{1.0}, 0.95));
}

// Four records with x of norm 1 and 2 and y within 3: bounds of 2 and 3 scale nothing down.
const std::vector<double> adassp_x{1, 0, 0, 1, 2, 0, 0, 2};
const std::vector<double> adassp_y{1, 2, 3, -1};

TEST(AdaSsp, WithoutNoiseToSpeakOfIsLeastSquares) {
  const TableView table{2, adassp_x, adassp_y};
  const std::vector<double> normals(adassp_normals(2), 1.0);
  const std::vector<double> expected = ordinary_least_squares(table).theta;
  const std::vector<double> found = adassp(table, {2, 3}, Rho{1e14}, privacy::Adjacency::zero_out, normals);
  for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(found[j], expected[j], 1e-5);
}

// (XᵀX + E_1 + λI) θ = Xᵀy + E_2 with every E written out: ρ = 6 gives each of the three releases ρ/3 = 2, so the
// noise of each is half its displacement.
TEST(AdaSsp, AddsTheNoiseOfItsThreeReleases) {
  const TableView table{2, adassp_x, adassp_y};
  const std::vector<double> normals{0.5, 0.1, -0.2, 0.3, 0.7, -0.4};
  for (const bool replaced : {false, true}) {
    const double of_eigenvalue = 4.0 / 2;
    const double of_gram = (replaced ? std::sqrt(2.0) * 4 : 4) / 2;
    const double of_moments = (replaced ? 2 : 1) * 6.0 / 2;
    const double smallest = std::max(0.0, 5 + of_eigenvalue * (0.5 - std::sqrt(2 * std::log(6 / 0.05))));
    const double ridge = std::max(0.0, std::sqrt(2 * std::log(2 * 4 / 0.05)) * of_gram - smallest);
    const double a = 5 + of_gram * 0.1 + ridge;
    const double b = of_gram * -0.2;
    const double d = 5 + of_gram * 0.3 + ridge;
    const double u = 7 + of_moments * 0.7;   // 1·1 + 2·3
    const double v = 0 + of_moments * -0.4;  // 1·2 − 2·1
    const std::vector<double> found = adassp(
        table, {2, 3}, Rho{6}, replaced ? privacy::Adjacency::replace_one : privacy::Adjacency::zero_out, normals);
    EXPECT_NEAR(found[0], (d * u - b * v) / (a * d - b * b), 1e-12);
    EXPECT_NEAR(found[1], (a * v - b * u) / (a * d - b * b), 1e-12);
  }
}

// By hand, √(2 ln(8/.05))·3 − (20 − √(2 ln 120)·2) = 9.5577 − 13.8108 < 0, so nothing is added; with a smaller
// eigenvalue the difference is added.
TEST(AdaSsp, AddsToTheDiagonalWhatTheDataLeaveOpen) {
  EXPECT_EQ(adaptive_ridge(2, 3, {20, 2}), 0);
  EXPECT_NEAR(adaptive_ridge(2, 3, {8, 2}), std::sqrt(2 * std::log(160)) * 3 - (8 - std::sqrt(2 * std::log(120)) * 2),
              1e-12);
  EXPECT_NEAR(adaptive_ridge(2, 3, {-50, 2}), 3 * std::sqrt(2 * std::log(160)), 1e-12);
}

// A record beyond the bounds counts as a record on them.
TEST(AdaSsp, ScalesRecordsDownToItsBounds) {
  const std::vector<double> x{10, 0, 0, 0.5};
  const std::vector<double> y{30, 1};
  const std::vector<double> within_x{1, 0, 0, 0.5};
  const std::vector<double> within_y{2, 1};
  const std::vector<double> normals(adassp_normals(2), 0.25);
  const auto fitted = [&](const std::vector<double>& rows, const std::vector<double>& targets) {
    return adassp({2, rows, targets}, {1, 2}, Rho{3}, privacy::Adjacency::replace_one, normals);
  };
  EXPECT_EQ(fitted(x, y), fitted(within_x, within_y));
}

/// The variance of the mean by the definition: e as a linear map of w, step by step.
double by_hand(const noise::Correlation& correlation, const AveragedDescent& descent) {
  const auto steps = static_cast<std::size_t>(descent.steps);
  const std::vector<double> b = noise::dense_noise_matrix(correlation, steps);
  std::vector<double> e(steps);
  std::vector<double> sum(steps);
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t s = 0; s < steps; ++s) {
      e[s] = (1 - descent.step_size * descent.curvature) * e[s] - descent.step_size * b[t * steps + s];
      if (t >= descent.from) sum[s] = descent.decay * sum[s] + e[s];
    }
  }
  double squares = 0;
  for (const double entry : sum) squares += entry * entry;
  double weight = 0;
  for (std::uint64_t t = descent.from; t < descent.steps; ++t) weight = descent.decay * weight + 1;
  return squares / (weight * weight);
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
          AveragedDescent{0.5, 1.7, 299, 300}, AveragedDescent{0.1, 1, 0, 1}, AveragedDescent{0.1, 1.0, 0, 300, 0.9},
          AveragedDescent{0.05, 0.3, 150, 300, 0.99}}) {
      const double expected = by_hand(correlation, descent);
      EXPECT_NEAR(averaged_noise_variance(correlation, descent), expected, 1e-9 * expected) << correlation.name();
    }
  }
}

// At 2^20 steps, where the definition is out of reach, the two ways agree with each other.
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

AverageDesign design(double stddev, double moments_stddev = 1e-12) {
  return {noise::Correlation{noise::Rational::nu_ftrl(Damping{0.01})},
          NoiseStddev{stddev},
          StepSize{0.1},
          0,
          1,
          100,
          NoiseStddev{moments_stddev},
          NoiseStddev{moments_stddev}};
}

/// The variances along each axis.
std::optional<std::vector<EstimatedVariance>> variances(const std::vector<double>& bread,
                                                        const std::vector<double>& meat, const AverageDesign& of,
                                                        std::uint64_t steps) {
  return average_variances(bread, meat, of, StepCount{steps}, std::vector<double>{1, 0, 0, 1});
}

// With H = diag(2, 8) and S = diag(4, 16), H⁻¹SH⁻¹ = diag(1, ¼); the noise of each direction follows from its own
// curvature.
TEST(AverageVariances, AddSamplingAndPrivacy) {
  const std::vector<double> bread{2, 0, 0, 8};
  const std::vector<double> meat{4, 0, 0, 16};
  const auto found =
      average_variances(bread, meat, design(3.0), StepCount{500}, std::vector<double>{1, 0, 0, 1, 1, 2});
  ASSERT_TRUE(found);
  const auto noise = [&](double curvature) {
    return 9 * averaged_noise_variance(design(3.0).correlation, {0.1, curvature, 100, 500});
  };
  EXPECT_NEAR((*found)[0].variance, 1.0 / 400 + noise(2), 1e-12);
  EXPECT_NEAR((*found)[1].variance, 0.25 / 400 + noise(8), 1e-12);
  EXPECT_NEAR((*found)[2].variance, (*found)[0].variance + 4 * (*found)[1].variance, 1e-12);
  EXPECT_GT((*found)[0].degrees_of_freedom, 1e9);
}

// With η = .1, an eigenvalue of 25 makes each step go two and a half times too far.
TEST(AverageVariances, AreSilentWhereStepsDiverge) {
  const std::vector<double> meat{4, 0, 0, 16};
  const std::vector<double> all{1, 0, 0, 1};
  EXPECT_TRUE(average_variances(std::vector<double>{2, 0, 0, 19}, meat, design(3.0), StepCount{500}, all));
  EXPECT_FALSE(average_variances(std::vector<double>{2, 0, 0, 25}, meat, design(3.0), StepCount{500}, all));
}

// Several passes over the same records tell no more of the population than the records do.
TEST(AverageVariances, CountRecordsOnce) {
  const std::vector<double> identity{1, 0, 0, 1};
  AverageDesign passes = design(1e-9);
  passes.minibatch = 50;
  passes.records = 100;
  const auto found = variances(identity, identity, passes, 500);
  ASSERT_TRUE(found);
  EXPECT_NEAR((*found)[0].variance, 1.0 / 100, 1e-9);
}

TEST(AverageVariances, AreSilentWhereNoiseHidesTheMoments) {
  const std::vector<double> identity{1, 0, 0, 1};
  EXPECT_FALSE(variances({1, 2, 2, 1}, identity, design(1), 500));
  EXPECT_FALSE(variances(identity, {-1, 0, 0, 1}, design(1), 500));
  EXPECT_FALSE(variances(identity, identity, design(1), 100));
  EXPECT_FALSE(variances({std::nan(""), 0, 0, 1}, identity, design(1), 500));
}

/// Adds symmetric noise as the isometric triangle has it, which is √½ of the noise off the diagonal.
std::vector<double> with_noise(std::vector<double> matrix, std::size_t d, double stddev, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = i; j < d; ++j) {
      const double drawn = stddev * normal(random) * (i == j ? 1 : std::sqrt(0.5));
      matrix[i * d + j] += drawn;
      if (i != j) matrix[j * d + i] += drawn;
    }
  }
  return matrix;
}

// An estimate with the true variance, and an interval from noisy moments: Student's t keeps the coverage of .95 that
// the normal quantile would lose. The noise has a fixed seed.
TEST(AverageVariances, IntervalsFromNoisyMomentsHoldWhatTheySay) {
  const std::vector<double> identity{1, 0, 0, 1};
  std::mt19937_64 random(12);
  std::normal_distribution<double> normal;
  AverageDesign of = design(1e-12);
  const double per_mean = std::sqrt(averaged_noise_variance(of.correlation, {1, 1, of.from, 500}));
  for (const double relative : {0.02, 0.1, 0.2}) {
    of.bread_stddev = of.meat_stddev = NoiseStddev{relative / per_mean};
    int shown = 0;
    int held = 0;
    int held_by_normal = 0;
    for (int run = 0; run < 4000; ++run) {
      const auto found =
          variances(with_noise(identity, 2, relative, random), with_noise(identity, 2, relative, random), of, 500);
      const double estimate = normal(random) / std::sqrt(400.0);
      if (!found) continue;
      ++shown;
      const auto holds = [&](double quantile) {
        return std::abs(estimate) <= quantile * std::sqrt((*found)[0].variance);
      };
      held += holds(student_quantile((*found)[0].degrees_of_freedom, 0.95)) ? 1 : 0;
      held_by_normal += holds(normal_quantile(0.95)) ? 1 : 0;
    }
    if (shown == 0) continue;
    // The slack is three standard errors of the count.
    const double slack = 3 * std::sqrt(0.05 * 0.95 / shown);
    EXPECT_GE(static_cast<double>(held) / shown, 0.95 - slack) << relative << ", shown " << shown;
    EXPECT_LE(static_cast<double>(held) / shown, 0.97 + slack) << relative;
    EXPECT_LE(held_by_normal, held);
    EXPECT_GT(shown, relative < 0.15 ? 3900 : 0) << relative;
  }
  of.bread_stddev = NoiseStddev{0.5 / per_mean};
  EXPECT_FALSE(variances(identity, identity, of, 500)) << "half of H may be noise";
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
  /// The residual sum of squares of column `target` after a regression on the first `given` columns.
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

TEST(FirstStage, SaysNothingWhereThereIsNothingToSay) {
  const FirstStageTable table;
  EXPECT_FALSE(first_stage_strength(table.second_moments(), FirstStageTable::shape, 3, 0));
  EXPECT_FALSE(first_stage_strength(table.second_moments(), FirstStageTable::shape, 300, 0.5));
  std::vector<double> broken = table.second_moments();
  broken[0] = std::nan("");
  EXPECT_FALSE(first_stage_strength(broken, FirstStageTable::shape, 300, 0));
}

// z explains `share` of x's variance: F = (n − 1)·share/(1 − share). Noise in the cross moments explains some by
// itself, and a million records make a large F of that.
TEST(FirstStage, NoiseIsNotTakenForStrength) {
  constexpr descent::TwoStageShape shape{1, 0, 1};
  constexpr std::uint64_t records = 1'000'000;
  std::mt19937_64 random(7);
  for (const double share : {0.0, 0.02}) {
    const double slope = std::sqrt(share);
    const double f = (records - 1) * share / (1 - share);
    for (const double stddev : {0.0005, 0.002, 0.02}) {
      int shown = 0;
      int too_strong = 0;
      int half = 0;
      for (int run = 0; run < 2000; ++run) {
        const auto strength =
            first_stage_strength(with_noise({1, slope, slope, 1}, 2, stddev, random), shape, records, stddev);
        if (!strength) continue;
        ++shown;
        too_strong += strength->f[0] > f ? 1 : 0;
        half += strength->f[0] >= f / 2 ? 1 : 0;
      }
      // One draw in a thousand may exceed the allowance; seven or more of 2,000 do so with a chance of one in a
      // hundred.
      EXPECT_LE(too_strong, 7) << share << ", " << stddev;
      if (share == 0) {
        EXPECT_EQ(shown - too_strong, shown) << stddev;
      } else if (stddev < 0.01) {
        EXPECT_EQ(shown, 2000) << "two per cent of a million records are strong beyond doubt";
        EXPECT_EQ(half, 2000) << stddev;
      }
    }
  }
}

}  // namespace
}  // namespace nustream::inference
