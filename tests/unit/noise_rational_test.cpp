// The rational correlation: what its poles promise, and where it must refuse.
#include "nustream/noise/rational.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "nustream/noise/correlation.h"
#include "nustream/noise/elliptic.h"

namespace nustream::noise {
namespace {

// Σ_{t<steps} f_t² with f_0 = 1 and f_t = Σ_i weights_i rates_i^{t−1}, term by term in extended precision.
double brute_force_squared_norm(const std::vector<double>& weights, const std::vector<double>& rates,
                                std::uint64_t steps) {
  std::vector<long double> term(weights.begin(), weights.end());
  long double sum = 1;
  for (std::uint64_t t = 1; t < steps; ++t) {
    long double entry = 0;
    for (std::size_t i = 0; i < term.size(); ++i) {
      entry += term[i];
      term[i] *= static_cast<long double>(rates[i]);
    }
    sum += entry * entry;
  }
  return static_cast<double>(sum);
}

TEST(RationalColumnNorm, EqualsTheSumTermByTerm) {
  for (const double nu : {0.4, 1e-2, 1e-4, 1e-6}) {
    const Rational rational = Rational::nu_ftrl(Damping{nu});
    for (const std::uint64_t steps : {1ULL, 2ULL, 3ULL, 10ULL, 1000ULL, 200'000ULL}) {
      const double sum = brute_force_squared_norm(rational.b(), rational.q(), steps);
      EXPECT_NEAR(rational.squared_column_norm(StepCount{steps}), sum, 1e-14 * sum) << nu << ' ' << steps;
    }
    const auto forever = static_cast<std::uint64_t>(40 / nu);
    if (forever > 1'000'000) continue;
    const double sum = brute_force_squared_norm(rational.b(), rational.q(), forever);
    EXPECT_NEAR(rational.squared_column_norm_limit(), sum, 1e-14 * sum) << nu;
    const double noise = brute_force_squared_norm(rational.a(), rational.p(), forever);
    EXPECT_NEAR(rational.squared_noise_norm_limit(), noise, 1e-14 * noise) << nu;
  }
}

// The noise that is charged is the noise that is generated: C's column norm from the β's with which the filter draws,
// by an explicit inverse, against the closed form in q and b. The two differ only by the rounding of p next to 1.
TEST(RationalColumnNorm, IsThatOfTheGeneratedNoise) {
  constexpr std::size_t steps = 4000;
  for (const double nu : {0.3, 1e-2, 1e-4, 1e-6, 1e-9}) {
    const Rational rational = Rational::nu_ftrl(Damping{nu});
    std::vector<double> beta{1};
    std::vector<double> term = rational.a();
    for (std::size_t t = 1; t < steps; ++t) {
      double entry = 0;
      for (std::size_t i = 0; i < term.size(); ++i) {
        entry -= term[i];
        term[i] *= rational.p()[i];
      }
      beta.push_back(entry);
    }
    double sum = 0;
    for (const double c : series_inverse(beta, steps)) sum += c * c;
    EXPECT_NEAR(rational.squared_column_norm(StepCount{steps}), sum, 1e-12 * sum) << nu;
  }
}

TEST(RationalColumnNorm, GrowsToItsLimitWithoutPassingIt) {
  const Rational rational = Rational::nu_ftrl(Damping{1e-4});
  double before = 0;
  for (std::uint64_t steps = 1; steps < (std::uint64_t{1} << 62); steps *= 2) {
    const double norm = rational.squared_column_norm(StepCount{steps});
    EXPECT_GE(norm, before);
    before = norm;
  }
  EXPECT_EQ(before, rational.squared_column_norm_limit());
  EXPECT_EQ(rational.squared_column_norm(StepCount{1}), 1);
  EXPECT_THROW((void)rational.squared_column_norm(StepCount{0}), InvalidParameter);
}

// A c that is read as Σ b_i q_i^t from t = 0 on loses the rest of c_0 = 1, and with it a seventh of γ².
TEST(RationalColumnNorm, StartsWithOneAndNotWithTheExponentials) {
  for (const double nu : {1e-2, 1e-3, 1e-4}) {
    const Rational rational = Rational::nu_ftrl(Damping{nu});
    double at_zero = 0;
    for (std::size_t i = 0; i < rational.poles(); ++i) at_zero += rational.b()[i] / rational.q()[i];
    EXPECT_LT(at_zero, 0.9) << nu;
    const double single_sum = rational.squared_column_norm_limit() - 1 + at_zero * at_zero;
    EXPECT_LT(single_sum, 0.9 * rational.squared_column_norm_limit()) << nu;
  }
}

TEST(RationalNuFtrl, PolesInterlaceAndWeightsArePositive) {
  for (const double nu : {1e-10, 1e-9, 1e-6, 1e-3, 0.1, 0.2499, 0.25, 0.5, 0.9, 0.999, 0.9999999}) {
    for (const std::size_t poles : {1U, 2U, 6U, 13U, 40U}) {
      const Rational rational = Rational::nu_ftrl(Damping{nu}, poles);
      ASSERT_EQ(rational.poles(), poles);
      EXPECT_EQ(rational.q().front(), 1 - nu);
      for (std::size_t i = 0; i < poles; ++i) {
        EXPECT_LT(rational.p()[i], rational.q()[i]) << nu << ' ' << poles << ' ' << i;
        EXPECT_GT(rational.p()[i], i + 1 < poles ? rational.q()[i + 1] : 0) << nu << ' ' << poles << ' ' << i;
        EXPECT_GT(rational.a()[i], 0);
        EXPECT_GT(rational.b()[i], 0);
      }
    }
  }
}

TEST(RationalNuFtrl, ManyPolesAreExactNuFtrl) {
  for (const double nu : {1e-4, 1e-2, 0.2, 0.3, 0.7}) {
    const Correlation rational{Rational::nu_ftrl(Damping{nu}, 40)};
    const Correlation exact{NuFtrl{Damping{nu}, {}}};
    const std::vector<double> c = strategy_coefficients(rational, 3000);
    const std::vector<double> exact_c = strategy_coefficients(exact, 3000);
    const std::vector<double> beta = noise_coefficients(rational, 3000);
    const std::vector<double> exact_beta = noise_coefficients(exact, 3000);
    for (std::size_t t = 0; t < c.size(); ++t) {
      EXPECT_NEAR(c[t], exact_c[t], 1e-13) << nu << ' ' << t;
      EXPECT_NEAR(beta[t], exact_beta[t], 1e-13) << nu << ' ' << t;
    }
    EXPECT_NEAR(mean_estimation_excess(std::get<Rational>(rational.family()), Damping{nu}), 0, 1e-11) << nu;
  }
}

TEST(RationalNuFtrl, DefaultIsTheSmallestWithinTheAllowedExcess) {
  EXPECT_EQ(Rational::nu_ftrl(Damping{1e-4}).poles(), 6U);
  EXPECT_EQ(Rational::nu_ftrl(Damping{1e-3}).poles(), 5U);
  EXPECT_EQ(Rational::nu_ftrl(Damping{1e-2}).poles(), 4U);
  for (const double nu : {1e-10, 1e-9, 1e-7, 1e-5, 3e-3, 0.05, 0.24, 0.26, 0.6, 0.95}) {
    const Rational chosen = Rational::nu_ftrl(Damping{nu});
    EXPECT_LE(mean_estimation_excess(chosen, Damping{nu}), 2.5e-4) << nu;
    if (chosen.poles() == 1) continue;
    EXPECT_GT(mean_estimation_excess(Rational::nu_ftrl(Damping{nu}, chosen.poles() - 1), Damping{nu}), 2.5e-4) << nu;
  }
}

// The published table, in percent, for m = 4, 5, 6.
TEST(MeanEstimationExcess, OfFourFiveAndSixPoles) {
  const auto percent = [](double nu, std::size_t poles) {
    return 100 * mean_estimation_excess(Rational::nu_ftrl(Damping{nu}, poles), Damping{nu});
  };
  EXPECT_NEAR(percent(1e-4, 4), .74, .005);
  EXPECT_NEAR(percent(1e-4, 5), .13, .005);
  EXPECT_NEAR(percent(1e-4, 6), .022, .0005);
  EXPECT_NEAR(percent(1e-3, 4), .12, .005);
  EXPECT_NEAR(percent(1e-3, 5), .014, .0005);
  EXPECT_NEAR(percent(1e-3, 6), .0015, .00005);
  EXPECT_NEAR(percent(1e-2, 4), .006, .0005);
  EXPECT_NEAR(percent(1e-2, 5), .0003, .00005);
  EXPECT_NEAR(percent(1e-2, 6), .00002, .000005);
}

// For prefix sums over a known horizon T, five poles at ν = .8/T have a smaller product of root-mean-square error and
// column norm than the exact ν = 0: it is .7% smaller at T = 1e5.
TEST(RationalNuFtrl, BeatsExactPrefixSumsAtAKnownHorizon) {
  constexpr std::size_t horizon = 100'000;
  const auto loss = [](const Correlation& correlation) {
    const std::vector<double> beta = noise_coefficients(correlation, horizon);
    double norm = 0;
    for (const double c : strategy_coefficients(correlation, horizon)) norm += c * c;
    double prefix = 0;
    double variance = 0;
    double mean = 0;
    for (const double entry : beta) {
      prefix += entry;
      variance += prefix * prefix;
      mean += variance / static_cast<double>(horizon);
    }
    return std::sqrt(norm * mean);
  };
  const double exact = loss(Correlation{NuFtrl{Damping{0}, StepCount{horizon}}});
  EXPECT_NEAR(loss(Correlation{Rational::nu_ftrl(Damping{0.8 / horizon}, 5)}) / exact, 0.993, 0.001);
}

// Computed without a simulation: the coefficients of the error are those of β(x)/(1 − (1−ν)x), summed up one by one.
TEST(MeanEstimationExcess, OfAnyRationalEqualsItsSeries) {
  const Damping nu{0.02};
  for (const Rational& rational : {Rational::from_poles({0.5}, {0.3}), Rational::from_poles({0.99, 0.7}, {0.05, 0.4}),
                                   Rational::from_poles({0.3, 0.98}, {0.9, 0.01}), Rational::nu_ftrl(Damping{0.1})}) {
    const std::vector<double> beta = noise_coefficients(Correlation{rational}, 3000);
    double error = 0;
    double coefficient = 0;
    for (const double entry : beta) {
      coefficient = (1 - nu.value()) * coefficient + entry;
      error += coefficient * coefficient;
    }
    double exact = 0;
    for (const double entry : strategy_coefficients(Correlation{NuFtrl{nu, {}}}, 3000)) exact += entry * entry;
    const double excess = rational.squared_column_norm_limit() * error / (exact * exact) - 1;
    EXPECT_GT(excess, 0);
    EXPECT_NEAR(mean_estimation_excess(rational, nu), excess, 1e-11 * (1 + excess));
  }
}

TEST(RationalFromPoles, FindsTheNoiseOfTheClosedForm) {
  for (const double nu : {1e-6, 1e-4, 1e-2, 0.3}) {
    const Rational closed = Rational::nu_ftrl(Damping{nu});
    const Rational found = Rational::from_poles(closed.q(), closed.b());
    for (std::size_t i = 0; i < closed.poles(); ++i) {
      EXPECT_NEAR(found.p()[i], closed.p()[i], 1e-15) << nu;
      EXPECT_NEAR(found.a()[i], closed.a()[i], (1e-13 + 1e-15 / nu) * closed.a()[i]) << nu;
    }
  }
}

// β c = 1 as power series, for random poles in any order, some of which have a lowest p below 0.
TEST(RationalFromPoles, NoiseIsTheInverseOfTheStrategy) {
  std::mt19937_64 random(20240611);
  std::uniform_real_distribution<double> uniform(0, 1);
  int below_zero = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t poles = 1 + random() % 8;
    std::vector<double> q;
    std::vector<double> b;
    double bound = 0;
    for (std::size_t i = 0; i < poles; ++i) {
      q.push_back(1 - std::pow(10, -5 * uniform(random)) * (1 - 1e-9));
      b.push_back(std::pow(10, -6 * uniform(random)));
      bound += b.back() / (1 + q.back());
    }
    const double within = uniform(random) / bound;
    for (double& weight : b) weight *= within;
    const Rational rational = Rational::from_poles(q, b);
    const Correlation correlation{rational};
    const std::vector<double> beta = noise_coefficients(correlation, 400);
    const std::vector<double> inverse = series_inverse(strategy_coefficients(correlation, 400), 400);
    for (std::size_t t = 0; t < beta.size(); ++t) EXPECT_NEAR(beta[t], inverse[t], 1e-11) << trial << ' ' << t;
    for (std::size_t i = 0; i < poles; ++i) EXPECT_GT(rational.a()[i], 0);
    below_zero += rational.p().back() < 0 ? 1 : 0;
  }
  EXPECT_GT(below_zero, 10);
}

TEST(RationalFromPoles, WithoutPolesIsIndependent) {
  const Rational none = Rational::from_poles({}, {});
  EXPECT_EQ(none.poles(), 0U);
  EXPECT_EQ(none.squared_column_norm_limit(), 1);
  EXPECT_EQ(none.squared_noise_norm_limit(), 1);
}

TEST(RationalFromPoles, Refuses) {
  EXPECT_THROW((void)Rational::from_poles({0.5}, {}), InvalidParameter);
  EXPECT_THROW((void)Rational::from_poles({1.0}, {0.1}), InvalidParameter);
  EXPECT_THROW((void)Rational::from_poles({0.0}, {0.1}), InvalidParameter);
  EXPECT_THROW((void)Rational::from_poles({std::nan("")}, {0.1}), InvalidParameter);
  EXPECT_THROW((void)Rational::from_poles({0.5}, {0.0}), InvalidParameter);
  EXPECT_THROW((void)Rational::from_poles({0.5}, {-0.1}), InvalidParameter);
  EXPECT_THROW((void)Rational::from_poles({0.5}, {INFINITY}), InvalidParameter);
  EXPECT_THROW((void)Rational::from_poles({0.5, 0.5}, {0.1, 0.1}), InvalidParameter);
  // p = q − b = −1 would be noise that never decays.
  EXPECT_THROW((void)Rational::from_poles({0.5}, {1.5}), InvalidParameter);
  EXPECT_NO_THROW((void)Rational::from_poles({0.5}, {1.4999}));
  EXPECT_DOUBLE_EQ(Rational::from_poles({0.5}, {0.75}).p().front(), -0.25);
}

TEST(RationalNuFtrl, Refuses) {
  EXPECT_THROW((void)Rational::nu_ftrl(Damping{0}), InvalidParameter);
  EXPECT_THROW((void)Rational::nu_ftrl(Damping{1e-11}), InvalidParameter);
  EXPECT_THROW((void)Rational::nu_ftrl(Damping{0.1}, 65), InvalidParameter);
  EXPECT_THROW((void)mean_estimation_excess(Rational::nu_ftrl(Damping{0.1}), Damping{0}), InvalidParameter);
}

TEST(Elliptic, Refuses) {
  EXPECT_THROW((void)arithmetic_geometric_mean(0, 1), InvalidParameter);
  EXPECT_THROW((void)arithmetic_geometric_mean(1, INFINITY), InvalidParameter);
  EXPECT_THROW((void)complete_elliptic_integral_first(0), InvalidParameter);
  EXPECT_THROW((void)complete_elliptic_integral_second(1.1), InvalidParameter);
  EXPECT_THROW((void)jacobi_sc(1, 0.5), InvalidParameter);
  EXPECT_EQ(jacobi_sc(0, 0.5), 0);
}

}  // namespace
}  // namespace nustream::noise
