// The families of correlations: which parameters are valid, and facts about their coefficients.
#include "nustream/noise/correlation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

namespace nustream::noise {
namespace {

using Series = std::vector<double>;

Series product(const Series& a, const Series& b) {
  Series result(a.size(), 0.0);
  for (std::size_t t = 0; t < a.size(); ++t) {
    for (std::size_t s = 0; s <= t; ++s) result[t] += a[s] * b[t - s];
  }
  return result;
}

std::vector<Correlation> toeplitz_correlations() {
  const StepCount horizon{200};
  return {Correlation{Independent{}},
          Correlation{NuFtrl{Damping{0.05}, {}}},
          Correlation{NuFtrl{Damping{0}, horizon}},
          Correlation{Rational::nu_ftrl(Damping{1e-3})},
          Correlation{DampedAntiPgd{Damping{0.2}}},
          Correlation{AntiPgd{horizon}},
          Correlation{Windowed{{1, -0.4, 0.3, -0.1, 0}, {}}},
          windowed_nu(Damping{1e-3}, 16),
          Correlation{Strategy{{1, 0.9, 0.2, -0.3}, horizon}}};
}

TEST(Coefficients, OfNoiseAndStrategyAreInverse) {
  for (const Correlation& correlation : toeplitz_correlations()) {
    const Series unit = product(noise_coefficients(correlation, 200), strategy_coefficients(correlation, 200));
    for (std::size_t t = 0; t < unit.size(); ++t) {
      EXPECT_NEAR(unit[t], t == 0 ? 1 : 0, 1e-13) << correlation.name() << ' ' << t;
    }
  }
}

TEST(Coefficients, BeginWithTheFreshNoise) {
  for (const Correlation& correlation : toeplitz_correlations()) {
    EXPECT_EQ(noise_coefficients(correlation, 3).front(), 1) << correlation.name();
    EXPECT_EQ(strategy_coefficients(correlation, 3).front(), 1) << correlation.name();
    EXPECT_TRUE(noise_coefficients(correlation, 0).empty());
    EXPECT_EQ(strategy_coefficients(correlation, 1), Series{1});
  }
}

// The expected numbers are from the recursions in extended precision, far beyond 1/ν.
TEST(Coefficients, StayAccurateAtLateSteps) {
  constexpr std::size_t count = 100'000;
  const double nu = 1e-4;
  const Correlation exact{NuFtrl{Damping{nu}, {}}};
  const Series beta = noise_coefficients(exact, count);
  const Series c = strategy_coefficients(exact, count);
  long double late_beta = 1;
  long double late_c = 1;
  for (std::size_t t = 1; t < count; ++t) {
    const auto step = static_cast<long double>(t);
    late_beta *= (2 * step - 3) / (2 * step) * static_cast<long double>(1 - nu);
    late_c *= (2 * step - 1) / (2 * step) * static_cast<long double>(1 - nu);
    ASSERT_NEAR(beta[t] / static_cast<double>(late_beta), 1, 1e-12) << t;
    ASSERT_NEAR(c[t] / static_cast<double>(late_c), 1, 1e-12) << t;
  }
  const Rational rational = Rational::nu_ftrl(Damping{nu});
  const Series filtered = strategy_coefficients(Correlation{rational}, count);
  for (const std::size_t t : {1UL, 64UL, 65UL, 777UL, 99'999UL}) {
    long double sum = 0;
    for (std::size_t i = 0; i < rational.poles(); ++i) {
      sum += static_cast<long double>(rational.b()[i]) *
             std::pow(static_cast<long double>(rational.q()[i]), static_cast<long double>(t - 1));
    }
    EXPECT_NEAR(filtered[t] / static_cast<double>(sum), 1, 1e-14) << t;
  }
}

TEST(NuFtrl, NoiseIsNegativeAfterTheFirstAndSumsToTheRootOfNu) {
  for (const double nu : {0.5, 0.1, 0.01, 1e-3}) {
    const Series beta = noise_coefficients(Correlation{NuFtrl{Damping{nu}, {}}}, 60'000);
    for (std::size_t t = 1; t < beta.size() && beta[t] != 0; ++t) ASSERT_LT(beta[t], 0) << t;
    EXPECT_NEAR(std::accumulate(beta.begin(), beta.end(), 0.0), std::sqrt(nu), 1e-12) << nu;
  }
}

TEST(NuFtrl, StrategyIsPositiveDecreasingAndLogConvex) {
  for (const double nu : {0.5, 0.01, 0.0}) {
    const Series c = strategy_coefficients(Correlation{NuFtrl{Damping{nu}, StepCount{1000}}}, 500);
    for (std::size_t t = 1; t + 1 < c.size(); ++t) {
      EXPECT_GT(c[t], 0);
      EXPECT_LT(c[t], c[t - 1]);
      EXPECT_LE(c[t] * c[t], c[t - 1] * c[t + 1] * (1 + 1e-14)) << nu << ' ' << t;
    }
  }
}

// |B(ω)|² = |1 − (1−ν) e^{iω}|.
TEST(NuFtrl, SpectrumIsThatOfTheSquareRoot) {
  const double nu = 0.01;
  const Series beta = noise_coefficients(Correlation{NuFtrl{Damping{nu}, {}}}, 6000);
  for (const double omega : {0.0, 1e-3, 0.1, 1.0, 2.0, std::numbers::pi}) {
    std::complex<double> symbol = 0;
    for (std::size_t t = 0; t < beta.size(); ++t) {
      symbol += beta[t] * std::polar(1.0, -omega * static_cast<double>(t));
    }
    EXPECT_NEAR(std::norm(symbol), std::abs(1.0 - (1 - nu) * std::polar(1.0, omega)), 1e-12) << omega;
  }
}

// c_t = (1−ν)^t ∫₀¹ x^t dx/(π √(x(1−x))) is a mixture of exponentials; this is why few poles come close to it.
TEST(NuFtrl, StrategyIsAMixtureOfExponentials) {
  const double nu = 0.01;
  const Series c = strategy_coefficients(Correlation{NuFtrl{Damping{nu}, {}}}, 100);
  constexpr int nodes = 400;  // Gauss–Chebyshev is exact for powers below twice as many
  for (const std::size_t t : {0UL, 1UL, 10UL, 99UL}) {
    double mixture = 0;
    for (int i = 0; i < nodes; ++i) {
      const double x = (1 + std::cos((2 * i + 1) * std::numbers::pi / (2 * nodes))) / 2;
      mixture += std::pow(x, static_cast<double>(t)) / nodes;
    }
    EXPECT_NEAR(c[t], std::pow(1 - nu, static_cast<double>(t)) * mixture, 1e-13) << t;
  }
}

TEST(RationalStrategy, IsPositiveDecreasingAndLogConvex) {
  for (const double nu : {1e-4, 1e-2, 0.3}) {
    const Series c = strategy_coefficients(Correlation{Rational::nu_ftrl(Damping{nu})}, 500);
    for (std::size_t t = 1; t + 1 < c.size(); ++t) {
      EXPECT_GT(c[t], 0);
      EXPECT_LT(c[t], c[t - 1]);
      if (t == 1) continue;  // c_0 = 1 is not part of the sum
      EXPECT_LE(c[t] * c[t], c[t - 1] * c[t + 1] * (1 + 1e-13)) << nu << ' ' << t;
    }
  }
}

// A window is a correlation of its own: its inverse is a renewal sequence, which is never negative and does not
// decrease steadily.
TEST(WindowedNuFtrl, StrategyIsARenewalSequence) {
  for (const std::size_t terms : {2UL, 3UL, 8UL, 64UL}) {
    const Series c = strategy_coefficients(windowed_nu(Damping{1e-4}, terms), 1000);
    for (const double entry : c) {
      EXPECT_GE(entry, 0);
      EXPECT_LE(entry, 1);
    }
  }
  const Series sparse = strategy_coefficients(Correlation{Windowed{{1, 0, -0.5}, {}}}, 6);
  EXPECT_EQ(sparse, (Series{1, 0, 0.5, 0, 0.25, 0}));
}

TEST(WindowedNuFtrl, CutsTheSeriesAndNothingElse) {
  const Series whole = noise_coefficients(Correlation{NuFtrl{Damping{0.01}, {}}}, 20);
  const Series cut = noise_coefficients(windowed_nu(Damping{0.01}, 8), 20);
  for (std::size_t t = 0; t < cut.size(); ++t) EXPECT_EQ(cut[t], t < 8 ? whole[t] : 0) << t;
}

TEST(DampedAntiPgd, ClosedForms) {
  const Correlation correlation{DampedAntiPgd{Damping{0.1}}};
  EXPECT_EQ(noise_coefficients(correlation, 4), (Series{1, -0.9, 0, 0}));
  const Series c = strategy_coefficients(correlation, 2000);
  for (const std::size_t t : {0UL, 1UL, 7UL, 1999UL}) {
    EXPECT_NEAR(c[t] / std::pow(0.9, static_cast<double>(t)), 1, 1e-13) << t;
  }
}

TEST(SeriesInverse, TakesAnyLeadingCoefficient) {
  EXPECT_EQ(series_inverse({2}, 3), (Series{0.5, 0, 0}));
  EXPECT_EQ(series_inverse({-1, 1}, 3), (Series{-1, -1, -1}));
  EXPECT_THROW((void)series_inverse({}, 3), InvalidParameter);
  EXPECT_THROW((void)series_inverse({0, 1}, 3), InvalidParameter);
  EXPECT_THROW((void)series_inverse({std::nan("")}, 3), InvalidParameter);
}

TEST(SeriesInverse, OfTheInverseIsTheSeries) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-0.4, 0.4);
  for (int trial = 0; trial < 50; ++trial) {
    Series a{1 + uniform(random)};
    for (int t = 1; t < 30; ++t) a.push_back(uniform(random) / (1 + t));
    const Series back = series_inverse(series_inverse(a, 30), 30);
    for (std::size_t t = 0; t < a.size(); ++t) EXPECT_NEAR(back[t], a[t], 1e-12);
  }
}

TEST(LargestStddev, IsThatOfTheLargestRow) {
  std::vector<Correlation> correlations = toeplitz_correlations();
  for (const StepCount horizon : {StepCount{1}, StepCount{2}, StepCount{40}}) {
    correlations.emplace_back(NuFtrl{Damping{0.01}, horizon});
    correlations.emplace_back(AntiPgd{horizon});
    correlations.emplace_back(Strategy{{1, 0.5, 0.7}, horizon});
    correlations.emplace_back(Windowed{{1, -2, 3}, horizon});
  }
  for (const Correlation& correlation : correlations) {
    const std::size_t steps = correlation.horizon().value_or(StepCount{3000}).value();
    double sum = 0;
    for (const double beta : noise_coefficients(correlation, steps)) sum += beta * beta;
    EXPECT_NEAR(largest_stddev(correlation), std::sqrt(sum), 1e-9) << correlation.name() << ' ' << steps;
  }
}

// Beyond a million steps the closed form of the limit takes the place of the sum.
TEST(LargestStddev, OfNuFtrlHasNoSeamAtLongHorizons) {
  for (const double nu : {0.0, 1e-8, 1e-3}) {
    const auto at = [&](std::uint64_t horizon) {
      return largest_stddev(Correlation{NuFtrl{Damping{nu}, StepCount{horizon}}});
    };
    EXPECT_NEAR(at(1'000'000), at(1'000'001), 1e-12);
    EXPECT_LE(at(1'000'000), at(1'000'001) * (1 + 1e-13));
  }
  EXPECT_NEAR(largest_stddev(Correlation{NuFtrl{Damping{0}, StepCount{1ULL << 40}}}), std::sqrt(4 / std::numbers::pi),
              1e-14);
}

TEST(DenseNoiseMatrix, IsLowerTriangularToeplitz) {
  const std::vector<double> matrix = dense_noise_matrix(Correlation{Windowed{{1, -0.5, 0.25}, {}}}, 4);
  EXPECT_EQ(matrix, (Series{1, 0, 0, 0, -0.5, 1, 0, 0, 0.25, -0.5, 1, 0, 0, 0.25, -0.5, 1}));
}

TEST(Correlation, NamesAndHorizons) {
  const auto horizon = [](const Correlation& correlation) { return correlation.horizon(); };
  EXPECT_EQ(horizon(Correlation{Independent{}}), std::nullopt);
  EXPECT_EQ(horizon(Correlation{NuFtrl{Damping{0.1}, {}}}), std::nullopt);
  EXPECT_EQ(horizon(Correlation{NuFtrl{Damping{0}, StepCount{9}}}), StepCount{9});
  EXPECT_EQ(horizon(Correlation{AntiPgd{StepCount{9}}}), StepCount{9});
  EXPECT_EQ(horizon(Correlation{DampedAntiPgd{Damping{0.1}}}), std::nullopt);
  EXPECT_EQ(horizon(Correlation{Strategy{{1}, StepCount{9}}}), StepCount{9});
  EXPECT_EQ(horizon(Correlation{Tree{5, Tree::Estimator::plain, false}}), StepCount{32});
  EXPECT_EQ(horizon(Correlation{Tree{5, Tree::Estimator::plain, true}}), std::nullopt);
  EXPECT_EQ(Correlation{Independent{}}.name(), "independent");
  EXPECT_EQ((Correlation{NuFtrl{Damping{0.1}, {}}}.name()), "nu");
  EXPECT_EQ(Correlation{Rational::nu_ftrl(Damping{0.1})}.name(), "rational");
  EXPECT_EQ(Correlation{DampedAntiPgd{Damping{0.1}}}.name(), "damped-anti-pgd");
  EXPECT_EQ(Correlation{AntiPgd{StepCount{1}}}.name(), "anti-pgd");
  EXPECT_EQ(windowed_nu(Damping{0.1}, 3).name(), "windowed");
  EXPECT_EQ((Correlation{Strategy{{1}, StepCount{1}}}.name()), "strategy");
  EXPECT_EQ((Correlation{Tree{0, Tree::Estimator::plain, true}}.name()), "tree");
  EXPECT_EQ((Correlation{Tree{0, Tree::Estimator::honaker, true}}.name()), "honaker");
  EXPECT_EQ((Correlation{Dense({1, 0.5, 2}, 2, StepCount{2})}.name()), "dense");
  EXPECT_EQ(horizon(Correlation{Dense({1, 0.5, 2}, 2, StepCount{2})}), StepCount{2});
  EXPECT_FALSE((Correlation{Tree{0, Tree::Estimator::plain, true}}.toeplitz()));
  EXPECT_FALSE((Correlation{Dense({1}, 1, StepCount{1})}.toeplitz()));
  EXPECT_TRUE(Correlation{Independent{}}.toeplitz());
}

TEST(Correlation, RefusesWhatHasNoFiniteSensitivityWithoutAHorizon) {
  EXPECT_THROW((Correlation{NuFtrl{Damping{0}, {}}}), InvalidParameter);
  EXPECT_THROW((Correlation{DampedAntiPgd{Damping{0}}}), InvalidParameter);
  EXPECT_THROW((Correlation{Windowed{{1, -1}, {}}}), InvalidParameter);
  EXPECT_THROW((Correlation{Windowed{{1, -0.6, 0.4}, {}}}), InvalidParameter);
  EXPECT_NO_THROW((Correlation{Windowed{{1, -0.6, 0.4}, StepCount{10}}}));
  EXPECT_NO_THROW((Correlation{Windowed{{1, -0.6, 0.39}, {}}}));
  EXPECT_THROW((void)windowed_nu(Damping{0.1}, 0), InvalidParameter);
}

TEST(Correlation, RefusesBadParameters) {
  EXPECT_THROW((Correlation{NuFtrl{Damping{0.1}, StepCount{0}}}), InvalidParameter);
  EXPECT_THROW((Correlation{AntiPgd{StepCount{0}}}), InvalidParameter);
  EXPECT_THROW((Correlation{Windowed{{}, {}}}), InvalidParameter);
  EXPECT_THROW((Correlation{Windowed{{0.9, 0.1}, {}}}), InvalidParameter);
  EXPECT_THROW((Correlation{Windowed{{1, std::nan("")}, StepCount{5}}}), InvalidParameter);
  EXPECT_THROW((Correlation{Windowed{{1}, StepCount{0}}}), InvalidParameter);
  EXPECT_THROW((Correlation{Strategy{{}, StepCount{5}}}), InvalidParameter);
  EXPECT_THROW((Correlation{Strategy{{2, 1}, StepCount{5}}}), InvalidParameter);
  EXPECT_THROW((Correlation{Strategy{{1, INFINITY}, StepCount{5}}}), InvalidParameter);
  EXPECT_THROW((Correlation{Strategy{{1}, StepCount{0}}}), InvalidParameter);
  EXPECT_THROW((Correlation{Tree{41, Tree::Estimator::plain, true}}), InvalidParameter);
  EXPECT_NO_THROW((Correlation{Tree{40, Tree::Estimator::plain, true}}));
}

// A correlation stops at the family's own end or at the end that was asked for, whichever is earlier.
TEST(Correlation, StopsWhereItIsTold) {
  EXPECT_EQ((Correlation{Rational::nu_ftrl(Damping{0.1}), StepCount{7}}.horizon()), StepCount{7});
  EXPECT_EQ((Correlation{AntiPgd{StepCount{9}}, StepCount{7}}.horizon()), StepCount{7});
  EXPECT_EQ((Correlation{AntiPgd{StepCount{9}}, StepCount{12}}.horizon()), StepCount{9});
  EXPECT_THROW((Correlation{Independent{}, StepCount{0}}), InvalidParameter);
}

TEST(LargestStddev, IsThatOfTheStepsUpToTheStop) {
  const Rational alternating = Rational::from_poles({0.3}, {1.2});  // p < 0
  ASSERT_LT(alternating.p().front(), 0);
  for (const Rational& rational : {Rational::nu_ftrl(Damping{1e-3}, 3), alternating}) {
    for (const std::uint64_t steps : {1U, 2U, 3U, 50U, 51U}) {
      const Correlation stopped{rational, StepCount{steps}};
      double sum = 0;
      for (const double beta : noise_coefficients(stopped, steps)) sum += beta * beta;
      EXPECT_NEAR(largest_stddev(stopped), std::sqrt(sum), 1e-14) << steps;
    }
  }
}

TEST(Coefficients, OfATreeAreRefused) {
  const Correlation tree{Tree{3, Tree::Estimator::honaker, true}};
  EXPECT_THROW((void)noise_coefficients(tree, 4), Unsupported);
  EXPECT_THROW((void)strategy_coefficients(tree, 4), Unsupported);
}

}  // namespace
}  // namespace nustream::noise
