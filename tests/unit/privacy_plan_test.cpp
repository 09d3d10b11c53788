// Predicted errors and tables against slower, plainer programs for the same definitions.
#include "nustream/privacy/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/privacy/sensitivity.h"

namespace nustream::privacy {
namespace {

using noise::Correlation;

/// η² Σ_t h_t² with h_t = (1 − ηλ) h_{t−1} + β_t: the variance by running the recursion.
double variance_by_recursion(const Correlation& correlation, double step_size, double eigenvalue, std::size_t steps) {
  const std::vector<double> beta = noise::noise_coefficients(correlation, steps);
  double response = 0;
  double sum = 0;
  for (const double coefficient : beta) {
    response = (1 - step_size * eigenvalue) * response + coefficient;
    sum += response * response;
  }
  return step_size * step_size * sum;
}

TEST(StationaryVariance, IntegralAgreesWithTheRecursion) {
  std::mt19937_64 engine(41);
  const auto real = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  };
  for (int trial = 0; trial < 60; ++trial) {
    const double step_size = real(0.02, 0.9);
    const std::vector<double> eigenvalues = {real(0.05, 1), real(0.05, 1), real(1, 2)};
    const std::vector<Correlation> correlations = {
        Correlation{noise::Independent{}},
        Correlation{noise::NuFtrl{Damping{real(0.005, 0.9)}, {}}},
        Correlation{noise::Rational::nu_ftrl(Damping{real(0.005, 0.5)}, 1 + static_cast<std::size_t>(trial % 6))},
        Correlation{noise::DampedAntiPgd{Damping{real(0.005, 0.9)}}},
        Correlation{noise::AntiPgd{StepCount{100'000}}},
        noise::windowed_nu(Damping{real(0.005, 0.9)}, 1 + static_cast<std::size_t>(trial)),
        Correlation{noise::Strategy{{1, real(0, 1), real(-0.5, 0.5)}, StepCount{40}}}};
    for (const Correlation& correlation : correlations) {
      const std::vector<double> actual = stationary_variances(correlation, StepSize{step_size}, eigenvalues);
      const std::size_t steps = correlation.name() == "strategy" ? 40 : 40'000;
      for (std::size_t j = 0; j < eigenvalues.size(); ++j) {
        const double expected = variance_by_recursion(correlation, step_size, eigenvalues[j], steps);
        EXPECT_NEAR(actual[j], expected, 1e-11 * expected) << correlation.name();
      }
    }
  }
}

// θ_T = −η Σ_t (1 − ηλ)^{T−1−t} z_t, with z = B w and B written out.
TEST(StationaryVariance, OfADenseEncoderIsThatOfItsLastStep) {
  constexpr std::size_t steps = 30;
  std::vector<double> rows;
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t i = 1; i < std::min<std::size_t>(t + 1, 7); ++i)
      rows.push_back(0.3 / static_cast<double>(i + t % 4));
    rows.push_back(1 + 0.1 * static_cast<double>(t % 3));
  }
  const Correlation dense{noise::Dense(rows, 7, StepCount{steps})};
  for (const std::size_t taken : {steps, steps - 5}) {
    const Correlation stopped{dense.family(), StepCount{taken}};
    const std::vector<double> matrix = noise::dense_noise_matrix(dense, taken);
    double expected = 0;
    for (std::size_t s = 0; s < taken; ++s) {
      double weight = 0;
      for (std::size_t t = 0; t < taken; ++t) weight = 0.9 * weight + matrix[t * taken + s];
      expected += 0.25 * weight * weight;
    }
    const std::vector<double> one = {0.2};
    EXPECT_NEAR(stationary_variances(stopped, StepSize{0.5}, one).front(), expected, 1e-13 * expected) << taken;
  }
}

// For one pole and independent noise the integral is elementary: P = η²/(1 − (1 − ηλ)²).
TEST(StationaryVariance, KeepsItsDigitsForTinyStepSizes) {
  for (const double step_size : {1e-9, 1e-6, 1e-3, 1.0, 1.999}) {
    const std::vector<double> one = {1.0};
    const double expected = step_size / (2 - step_size);
    EXPECT_NEAR(stationary_variances(Correlation{noise::Independent{}}, StepSize{step_size}, one)[0], expected,
                1e-13 * expected);
    // ν-FTRL with ν = ηλ: |B|² and the response cancel to η²·(1/2π)∫ dω/|1 − (1−ν)e^{iω}| = η² (2/π) K(1−ν) = η²
    // γ_∞².
    if (step_size < 1) {
      const Correlation matched{noise::NuFtrl{Damping{step_size}, {}}};
      const double gamma = sensitivity_limit(matched, Participation::once()).value();
      const double closed = step_size * step_size * gamma * gamma;
      EXPECT_NEAR(stationary_variances(matched, StepSize{step_size}, one)[0], closed, 1e-12 * closed);
    }
  }
}

/// The second moment of the iterate for Gaussian features and independent noise. Isserlis' theorem gives m_j ← (1 −
/// 2ηλ_j + 2η²λ_j²) m_j + η²λ_j Σ_k λ_k m_k + η², which is iterated to its fixed point.
double excess_by_second_moments(const std::vector<double>& eigenvalues, double step_size) {
  std::vector<double> moments(eigenvalues.size(), 0.0);
  double excess = 0;
  for (int iteration = 0; iteration < 200'000; ++iteration) {
    double trace = 0;
    for (std::size_t j = 0; j < moments.size(); ++j) trace += eigenvalues[j] * moments[j];
    for (std::size_t j = 0; j < moments.size(); ++j) {
      const double contraction = step_size * eigenvalues[j];
      moments[j] = (1 - 2 * contraction + 2 * contraction * contraction) * moments[j] +
                   step_size * contraction * trace + step_size * step_size;
    }
    excess = trace / 2;
  }
  return excess;
}

TEST(StationaryExcess, GaussianFeaturesFeedTheErrorBack) {
  const Correlation independent{noise::Independent{}};
  for (const double step_size : {0.01, 0.05, 0.15}) {
    const std::vector<double> eigenvalues = {1.0, 0.7, 0.7, 0.2, 0.05};
    const LocalProblem problem{eigenvalues, StepSize{step_size}, Curvature::gaussian_features};
    const double expected = excess_by_second_moments(eigenvalues, step_size);
    EXPECT_NEAR(stationary_excess(independent, problem, NoiseStddev{1}), expected, 1e-9 * expected);
    EXPECT_NEAR(stationary_excess(independent, problem, NoiseStddev{3}), 9 * expected, 1e-8 * expected);
    const LocalProblem fixed{eigenvalues, StepSize{step_size}, Curvature::fixed};
    EXPECT_LT(stationary_excess(independent, fixed, NoiseStddev{1}), expected);
  }
}

TEST(StationaryExcess, DivergesWhereTheStepIsTooLongAndRefusesWhereItIsMeaningless) {
  const Correlation independent{noise::Independent{}};
  const std::vector<double> many(128, 1.0);
  const LocalProblem diverging{many, StepSize{0.02}, Curvature::gaussian_features};
  EXPECT_EQ(stationary_excess(independent, diverging, NoiseStddev{1}), INFINITY);
  EXPECT_EQ(suggested_nu(diverging, Participation::once()).value(), 0.02);
  const LocalProblem unstable{{1.0}, StepSize{2}, Curvature::fixed};
  EXPECT_THROW((void)stationary_excess(independent, unstable, NoiseStddev{1}), InvalidParameter);
  const LocalProblem flat{{1.0, 0.0}, StepSize{0.1}, Curvature::fixed};
  EXPECT_THROW((void)stationary_excess(independent, flat, NoiseStddev{1}), InvalidParameter);
  const Correlation tree{noise::Tree{3, noise::Tree::Estimator::plain, true}};
  const LocalProblem mean{{1.0}, StepSize{0.1}, Curvature::fixed};
  EXPECT_THROW((void)stationary_excess(tree, mean, NoiseStddev{1}), Unsupported);
}

// The search must find what the theorem says where the theorem applies. One of two equal eigenvalues is perturbed, so
// that the search does not take the short cut.
TEST(SuggestedNu, SearchFindsTheTheorem) {
  for (const double step_size : {1e-4, 1e-2, 0.3}) {
    const LocalProblem almost_mean{{1.0, 1.0 + 1e-9}, StepSize{step_size}, Curvature::fixed};
    EXPECT_NEAR(suggested_nu(almost_mean, Participation::once()).value(), step_size, 1e-4 * step_size);
  }
}

TEST(SuggestedNu, IsBetterThanItsNeighbours) {
  const LocalProblem problem{{1.0, 0.3, 0.01}, StepSize{0.05}, Curvature::gaussian_features};
  for (const Participation& participation : {Participation{1, 1}, Participation{5, 200}}) {
    const Budget budget{Rho{1}, participation, Displacement{1}};
    const double best = suggested_nu(problem, participation).value();
    const auto excess = [&](double nu) {
      return predicted_excess(Correlation{noise::Rational::nu_ftrl(Damping{nu}, 40)}, problem, budget);
    };
    EXPECT_LE(excess(best), excess(best * 1.05));
    EXPECT_LE(excess(best), excess(best / 1.05));
  }
}

TEST(SpendTable, HasPowersOfTenTheHorizonAndTheLimit) {
  const Delta delta{1e-6};
  const Spend endless(Correlation{noise::Rational::nu_ftrl(Damping{1e-3})}, Participation::once(),
                      NoiseMultiplier{2});
  const std::vector<SpendRow> rows = spend_table(endless, delta);
  ASSERT_EQ(rows.size(), 8U);
  EXPECT_EQ(rows[0].steps, StepCount{1000});
  EXPECT_EQ(rows[6].steps, StepCount{1'000'000'000});
  EXPECT_FALSE(rows[7].steps.has_value());
  EXPECT_EQ(rows[7].rho, endless.limit());
  for (const SpendRow& row : rows) {
    if (row.steps) {
      EXPECT_NEAR(row.sensitivity.value(),
                  sensitivity(endless.correlation(), *row.steps, Participation::once()).value(), 1e-13);
    }
    EXPECT_EQ(row.epsilon, epsilon(row.rho, delta));
  }
  const Spend finite(Correlation{noise::AntiPgd{StepCount{5000}}}, Participation::once(), NoiseMultiplier{100});
  const std::vector<SpendRow> few = spend_table(finite, delta, Conversion::zcdp);
  ASSERT_EQ(few.size(), 2U);
  EXPECT_EQ(few[1].steps, StepCount{5000});
  EXPECT_EQ(few[1].epsilon, epsilon(few[1].rho, delta, Conversion::zcdp));
}

TEST(Prediction, CarriesNoHiddenFactor) {
  const LocalProblem problem{{1.0, 0.25}, StepSize{0.1}, Curvature::fixed};
  const Correlation correlation{noise::Rational::nu_ftrl(Damping{0.05})};
  const Budget budget{Rho{0.5}, Participation::once(), Displacement{3}};
  const Prediction prediction = predict(correlation, problem, budget);
  const double gamma = sensitivity_limit(correlation, Participation::once()).value();
  EXPECT_NEAR(prediction.seed.value(), 3 * gamma, 1e-13);
  EXPECT_NEAR(prediction.noise_stddev, 3 * gamma * noise::largest_stddev(correlation), 1e-12);
  const double excess =
      0.5 * std::pow(prediction.iterate_stddevs[0], 2) + 0.125 * std::pow(prediction.iterate_stddevs[1], 2);
  EXPECT_NEAR(prediction.excess, excess, 1e-14);
  EXPECT_LE(prediction.suggested_excess, prediction.excess);
  EXPECT_LT(prediction.excess, prediction.independent_excess);
}

}  // namespace
}  // namespace nustream::privacy
