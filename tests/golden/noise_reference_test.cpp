// Coefficients, column norms and streams against numbers that were computed elsewhere: jax-privacy 2.0.0, an
// independent implementation of the papers, and 40-digit arithmetic (sources in the data files).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "nustream/noise/correlation.h"
#include "nustream/noise/elliptic.h"
#include "support/noise_generators_seed.h"
#include "support/noise_reference_data.h"

namespace nustream::noise {
namespace {

using testing::GivenSeed;
using testing::ReferenceData;
using Series = std::vector<double>;

constexpr std::size_t stream_steps = 50;
constexpr std::size_t stream_dimension = 3;

void expect_relative(const Series& computed, const Series& reference, double tolerance, const std::string& what) {
  ASSERT_EQ(computed.size(), reference.size()) << what;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    EXPECT_NEAR(computed[i], reference[i], tolerance * std::abs(reference[i])) << what << " entry " << i;
  }
}

// The entries are sums of terms of either sign, so the tolerance is relative to the largest entry.
void expect_stream(const Series& computed, const Series& reference, double tolerance, const std::string& what) {
  ASSERT_EQ(computed.size(), reference.size()) << what;
  double largest = 0;
  for (const double value : reference) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < reference.size(); ++i) {
    EXPECT_NEAR(computed[i], reference[i], tolerance * largest) << what << " entry " << i;
  }
}

Series generate(const Correlation& correlation, GeneratorKind kind, const Series& seed, std::size_t dimension) {
  GivenSeed given(seed, dimension);
  return testing::run_generator(*make_generator(correlation, kind, dimension), given, seed.size() / dimension,
                                dimension, 16);
}

// Σ_{s≤t} f_s x_{t−s} by its definition.
Series convolve(const Series& f, const Series& x, std::size_t dimension) {
  Series y(x.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t s = 0; s <= i / dimension && s < f.size(); ++s) y[i] += f[s] * x[i - s * dimension];
  }
  return y;
}

Series sine(std::size_t steps) {
  Series seed;
  for (std::size_t t = 0; t < steps; ++t) seed.push_back(std::sin(static_cast<double>(t + 1)));
  return seed;
}

class JaxPrivacyRational : public ::testing::TestWithParam<int> {
 protected:
  JaxPrivacyRational() : data_("noise_streams.txt"), name_("rational_" + std::to_string(GetParam()) + ".") {}
  [[nodiscard]] const Series& series(const std::string& what) const { return data_.series(name_ + what); }
  [[nodiscard]] Rational rational() const { return Rational::from_poles(series("q"), series("b")); }

  ReferenceData data_;
  std::string name_;
};

TEST_P(JaxPrivacyRational, PolesOfTheNoiseFollowFromThoseOfTheStrategy) {
  // The data hold 1 − p and p; together they fix p and its distance to 1.
  expect_relative(rational().p(), series("p"), 1e-12, "p");
  for (std::size_t i = 0; i < rational().poles(); ++i) {
    EXPECT_NEAR(rational().a()[i], series("a")[i], 1e-12) << i;
  }
}

TEST_P(JaxPrivacyRational, Coefficients) {
  const Correlation correlation{rational()};
  expect_relative(strategy_coefficients(correlation, stream_steps), series("strategy"), 1e-12, "c");
  expect_stream(noise_coefficients(correlation, stream_steps), series("noise"), 1e-12, "beta");
  expect_relative(noise_coefficients(correlation, stream_steps), series("exact_noise"), 1e-12, "beta");
}

TEST_P(JaxPrivacyRational, ColumnNorms) {
  const auto steps = static_cast<std::uint64_t>(series("steps").front());
  const double finite = series("squared_column_norm").front();
  EXPECT_NEAR(rational().squared_column_norm(StepCount{steps}), finite, 1e-12 * finite);
  // The limit of jax-privacy loses digits where a q is close to 1; the 40-digit value does not.
  const double limit = series("squared_column_norm_limit").front();
  EXPECT_NEAR(rational().squared_column_norm_limit(), limit, 1e-9 * limit);
  const double exact = series("exact_squared_column_norm_limit").front();
  EXPECT_NEAR(rational().squared_column_norm_limit(), exact, 1e-14 * exact);
}

TEST_P(JaxPrivacyRational, Streams) {
  const Correlation correlation{rational()};
  const Series& seed = data_.series("seed");
  expect_stream(generate(correlation, GeneratorKind::recurrent, seed, stream_dimension), series("noise_times_seed"),
                1e-12, "B w");
  expect_stream(convolve(strategy_coefficients(correlation, stream_steps), seed, stream_dimension),
                series("strategy_times_seed"), 1e-12, "C w");
}

INSTANTIATE_TEST_SUITE_P(Cases, JaxPrivacyRational, ::testing::Range(1, 12));

class JaxPrivacyToeplitz : public ::testing::TestWithParam<int> {};

TEST_P(JaxPrivacyToeplitz, InverseAndStreamsOfAGivenStrategy) {
  const ReferenceData data("noise_streams.txt");
  const std::string name = "toeplitz_" + std::to_string(GetParam()) + ".";
  Series c = data.series(name + "strategy");
  // The optimised strategy is scaled to column norm 1. The library's strategies begin with 1, and B scales inversely
  // to C.
  const double scale = c.front();
  for (double& entry : c) entry /= scale;
  const Correlation correlation{Strategy{c, StepCount{stream_steps}}};

  Series noise = noise_coefficients(correlation, stream_steps);
  for (double& entry : noise) entry /= scale;
  expect_stream(noise, data.series(name + "noise"), 1e-12, "beta");
  for (const GeneratorKind kind : {GeneratorKind::direct, GeneratorKind::fft}) {
    Series z = generate(correlation, kind, data.series("seed"), stream_dimension);
    for (double& entry : z) entry /= scale;
    expect_stream(z, data.series(name + "noise_times_seed"), 1e-12, "B w");
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, JaxPrivacyToeplitz, ::testing::Range(1, 5));

TEST(NuFtrlReference, CoefficientsAndStream) {
  const ReferenceData data("noise_nu_ftrl.txt");
  const Correlation correlation{NuFtrl{Damping{0.01}, StepCount{12}}};
  expect_relative(noise_coefficients(correlation, 8), data.series("nu_0.01.noise"), 1e-14, "beta");
  expect_relative(strategy_coefficients(correlation, 8), data.series("nu_0.01.strategy"), 1e-14, "c");
  for (const GeneratorKind kind : {GeneratorKind::direct, GeneratorKind::fft}) {
    expect_stream(generate(correlation, kind, sine(12), 1), data.series("nu_0.01.noise_times_sine"), 1e-14, "z");
  }
}

TEST(RationalReference, ClosedFormOfTheRule) {
  const ReferenceData data("noise_nu_ftrl.txt");
  const Rational rational = Rational::nu_ftrl(Damping{0.01}, 4);
  expect_relative(rational.p(), data.series("rule_0.01_4.p"), 1e-14, "p");
  expect_relative(rational.q(), data.series("rule_0.01_4.q"), 1e-14, "q");
  // The reference multiplies differences of p's and q's in double precision, where they cancel.
  expect_relative(rational.a(), data.series("rule_0.01_4.a"), 1e-12, "a");
  expect_relative(rational.b(), data.series("rule_0.01_4.b"), 1e-12, "b");
  EXPECT_NEAR(rational.squared_column_norm_limit(), data.number("rule_0.01_4.squared_column_norm_limit"), 1e-14);
  expect_stream(generate(Correlation{rational}, GeneratorKind::recurrent, sine(12), 1),
                data.series("rule_0.01_4.noise_times_sine"), 1e-14, "z");
}

TEST(RationalReference, NormsAndExcessByFortyDigitArithmetic) {
  const ReferenceData data("noise_nu_ftrl.txt");
  for (int i = 1; i <= 14; ++i) {
    const Series& reference = data.series("excess_" + std::to_string(i));
    const Damping nu{reference[0]};
    const Rational rational = Rational::nu_ftrl(nu, static_cast<std::size_t>(reference[1]));
    // A pole next to 1 − ν is rounded by up to 1e-16, which is 1e-16/ν of its distance to 1.
    const double rounding = 1e-14 + 1e-16 / nu.value();
    EXPECT_NEAR(rational.squared_column_norm_limit(), reference[2], rounding * reference[2]) << nu.value();
    EXPECT_NEAR(rational.squared_noise_norm_limit(), reference[3], rounding * reference[3]) << nu.value();
    EXPECT_NEAR(mean_estimation_excess(rational, nu), reference[4], 10 * rounding) << nu.value();
  }
}

// The limit of ν-FTRL's own column norm, γ_∞² = 1/AGM(1, √(1 − (1−ν)²)).
TEST(NuFtrlReference, ColumnNormInTheLimit) {
  const ReferenceData data("noise_nu_ftrl.txt");
  for (std::size_t i = 0; i < data.series("limit.nu").size(); ++i) {
    const double nu = data.series("limit.nu")[i];
    const double limit = 1 / arithmetic_geometric_mean(1, std::sqrt(nu * (2 - nu)));
    EXPECT_NEAR(limit, data.series("limit.exact")[i], 1e-14 * limit) << nu;
    // The papers' 1 − (1 − ν)², computed as it stands, cancels.
    EXPECT_NEAR(limit, data.series("limit.squared_column_norm")[i], (1e-14 + 1e-17 / nu) * limit) << nu;
  }
}

TEST(EllipticReference, IntegralsAndTheJacobiFunction) {
  const ReferenceData data("noise_nu_ftrl.txt");
  for (int i = 1; i <= 7; ++i) {
    const Series& reference = data.series("elliptic_" + std::to_string(i));
    const double complement = reference[0];
    const Series computed{complement,
                          complete_elliptic_integral_first(complement),
                          complete_elliptic_integral_second(complement),
                          jacobi_sc(0.25, complement),
                          jacobi_sc(0.5, complement),
                          jacobi_sc(0.875, complement)};
    expect_relative(computed, reference, 3e-15, "1 - m = " + std::to_string(complement));
  }
}

}  // namespace
}  // namespace nustream::noise
