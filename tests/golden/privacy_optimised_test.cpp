// Fitted correlations against the losses that other people's optimisers reach, and against proofs of optimality by
// plain linear algebra.
#include "nustream/privacy/optimised.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/privacy/sensitivity.h"
#include "privacy_optimised_bits.h"

namespace nustream::privacy {
namespace {

using noise::Correlation;
using Matrix = Eigen::MatrixXd;

struct Reference {
  std::string family;
  PrefixSums problem;
  std::size_t size;  ///< bands or poles
  double loss;

  [[nodiscard]] std::string name() const {
    return family + ", T " + std::to_string(problem.horizon.value()) + ", " + std::to_string(size);
  }
};

std::vector<Reference> references() {
  std::ifstream file(std::string(NUSTREAM_TESTS_DIR) + "/golden/data/privacy_optimised_losses.csv");
  std::vector<Reference> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#' || line.starts_with("family")) continue;
    std::istringstream fields(line);
    std::vector<std::string> words;
    for (std::string word; std::getline(fields, word, ',');) words.push_back(word);
    all.push_back({words[0],
                   {StepCount{std::stoull(words[2])},
                    {std::stoull(words[4]), std::stoull(words[5])},
                    words[1] == "mean" ? PrefixError::mean : PrefixError::largest},
                   std::stoul(words[3]),
                   std::stod(words[6])});
  }
  return all;
}

Correlation fitted(const Reference& reference) {
  if (reference.family == "toeplitz") return optimised_toeplitz(reference.problem, reference.size);
  if (reference.family == "rational") return optimised_rational(reference.problem, reference.size);
  return optimised_dense(reference.problem, reference.size);
}

PrefixSums once(std::uint64_t steps, PrefixError error) {
  return {StepCount{steps}, Participation::once(), error};
}

/// The matrix B, written out.
Matrix noise_matrix(const Correlation& correlation, std::size_t steps) {
  const std::vector<double> dense = noise::dense_noise_matrix(correlation, steps);
  const auto size = static_cast<Eigen::Index>(steps);
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      dense.data(), size, static_cast<Eigen::Index>(dense.size()) / size);
}

Matrix prefix_sums(std::size_t steps) {
  const auto size = static_cast<Eigen::Index>(steps);
  return Matrix::Ones(size, size).triangularView<Eigen::Lower>();
}

TEST(Optimised, IsAsGoodAsWhatOthersFound) {
  ASSERT_EQ(references().size(), 20U);
  for (const Reference& reference : references()) {
    const Correlation correlation = fitted(reference);
    EXPECT_LE(prefix_sum_loss(correlation, reference.problem), reference.loss * (1 + 1e-6)) << reference.name();
    EXPECT_EQ(correlation.horizon(), reference.problem.horizon) << reference.name();
  }
}

// The reference's fits and the library's are the same where both are optima of one family: neither is better by
// another definition of the loss.
TEST(Optimised, FindsTheSameLossWhereTheFamilyIsTheSame) {
  for (const Reference& reference : references()) {
    // The reference's fit has not converged there.
    if (reference.family == "dense" && reference.size == reference.problem.horizon.value()) continue;
    const bool wider_family = reference.family == "toeplitz" && reference.problem.participation.times() > 1;
    if (wider_family) continue;
    EXPECT_NEAR(prefix_sum_loss(fitted(reference), reference.problem) / reference.loss, 1, 1e-6) << reference.name();
  }
}

TEST(Optimised, LossIsThatOfTheMatrices) {
  for (const Reference& reference : references()) {
    const auto steps = static_cast<std::size_t>(reference.problem.horizon.value());
    if (steps > 128) continue;
    const Correlation correlation = fitted(reference);
    const Matrix b = noise_matrix(correlation, steps);
    const Eigen::VectorXd errors = (prefix_sums(steps) * b).rowwise().squaredNorm();
    const double square = b.inverse().colwise().squaredNorm().maxCoeff();
    const double error = reference.problem.error == PrefixError::mean ? errors.mean() : errors.maxCoeff();
    EXPECT_NEAR(prefix_sum_loss(correlation, reference.problem), square * error, 1e-10 * square * error)
        << reference.name();
  }
}

// The values are those of jax-privacy 2.0.0, toeplitz.optimize_banded_toeplitz(n=256, bands=4, reduction_fn=jnp.max),
// divided by the first one.
TEST(Optimised, ReachesTheSameCoefficients) {
  const std::vector<double> theirs = {0.6093931238777579, 0.5006403500303855, 0.45713349005382764,
                                      0.41113043278644296};
  const Correlation correlation = optimised_toeplitz(once(256, PrefixError::largest), 4);
  const std::vector<double>& c = std::get<noise::Strategy>(correlation.family()).c;
  ASSERT_EQ(c.size(), 4U);
  for (std::size_t t = 0; t < 4; ++t) EXPECT_NEAR(c[t], theirs[t] / theirs[0], 1e-6) << t;
}

// This program shares no trick with the library's: it has eigenvectors in place of an integral over tridiagonal
// inverses.
double bound_by_eigenvectors(std::size_t steps, PrefixError error) {
  const auto size = static_cast<Eigen::Index>(steps);
  const Matrix ones = prefix_sums(steps);
  Eigen::VectorXd u = Eigen::VectorXd::Constant(size, 1.0 / static_cast<double>(steps));
  Eigen::VectorXd v = Eigen::VectorXd::Ones(size);
  double value = 0;
  for (int iteration = 0; iteration < 400; ++iteration) {
    const Eigen::VectorXd root = v.cwiseSqrt();
    const Matrix inner = root.asDiagonal() * ones.transpose() * u.asDiagonal() * ones * root.asDiagonal();
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(inner);
    const Eigen::VectorXd diagonal = eigen.operatorSqrt().diagonal();
    value = std::pow(diagonal.sum(), 2) / v.sum();
    v = diagonal;
    if (error == PrefixError::largest) u = v.reverse() / v.sum();
  }
  return value;
}

TEST(DenseBound, IsTheDualOptimum) {
  for (const PrefixError error : {PrefixError::largest, PrefixError::mean}) {
    for (const std::uint64_t steps : {1U, 2U, 3U, 17U, 50U}) {
      const double expected = bound_by_eigenvectors(steps, error);
      const double bound = prefix_sum_loss_bound(once(steps, error));
      EXPECT_NEAR(bound, expected, 1e-9 * expected) << steps;
      EXPECT_LE(bound, expected) << steps;
    }
  }
}

// tr(AᵀA X⁻¹) over X = CᵀC with X_ii = 1, T = 2: X_01 = x, and (3 − 2x)/(1 − x²) is least at x = (3 − √5)/2.
TEST(DenseBound, HasAClosedFormForTwoSteps) {
  const double x = (3 - std::sqrt(5)) / 2;
  EXPECT_NEAR(prefix_sum_loss_bound(once(2, PrefixError::mean)), (3 - 2 * x) / (1 - x * x) / 2, 1e-10);
}

TEST(DenseFit, ReachesTheBound) {
  for (const PrefixError error : {PrefixError::largest, PrefixError::mean}) {
    for (const std::uint64_t steps : {1U, 2U, 3U, 50U, 128U, 333U}) {
      const PrefixSums problem = once(steps, error);
      const double loss = prefix_sum_loss(optimised_dense(problem), problem);
      const double bound = prefix_sum_loss_bound(problem);
      EXPECT_GE(loss, bound) << steps;
      EXPECT_LE(loss, bound * (1 + 1e-6)) << steps;
    }
  }
}

TEST(DenseBound, IsBelowEveryOtherCorrelation) {
  for (const PrefixError error : {PrefixError::largest, PrefixError::mean}) {
    const PrefixSums problem = once(64, error);
    const double bound = prefix_sum_loss_bound(problem);
    for (const Correlation& correlation :
         {Correlation{noise::Independent{}}, Correlation{noise::NuFtrl{Damping{0}, StepCount{64}}},
          Correlation{noise::NuFtrl{Damping{0.01}, StepCount{64}}}, Correlation{noise::AntiPgd{StepCount{64}}},
          Correlation{noise::Tree{6, noise::Tree::Estimator::plain, false}},
          Correlation{noise::Tree{6, noise::Tree::Estimator::honaker, false}}, optimised_toeplitz(problem),
          optimised_toeplitz(problem, 5), optimised_rational(problem, 3)}) {
      EXPECT_GT(prefix_sum_loss(correlation, problem), 1.01 * bound) << correlation.name();
    }
  }
}

// Over the positive definite X that vanish beyond the band, with diagonal 1, tr(AᵀA X⁻¹) is convex: X is the optimum
// if and only if its gradient X⁻¹AᵀA X⁻¹ vanishes in the band beside the diagonal.
TEST(BandedDenseFit, SatisfiesTheConditionOfTheConvexProblem) {
  for (const std::size_t bands : {2U, 7U, 20U}) {
    constexpr std::size_t steps = 60;
    const Correlation correlation = optimised_dense(once(steps, PrefixError::mean), bands);
    const Matrix b = noise_matrix(correlation, steps);
    const Matrix c = b.inverse();
    const Eigen::VectorXd norms = c.colwise().norm();
    EXPECT_LT((norms.array() / norms(0) - 1).abs().maxCoeff(), 1e-13);
    const Matrix inverse = b * b.transpose() * norms(0) * norms(0);
    const Matrix ones = prefix_sums(steps);
    const Matrix gradient = inverse * ones.transpose() * ones * inverse;
    double largest = 0;
    for (Eigen::Index i = 0; i < gradient.rows(); ++i) {
      for (Eigen::Index j = std::max<Eigen::Index>(0, i - static_cast<Eigen::Index>(bands) + 1); j < i; ++j) {
        largest = std::max(largest, std::abs(gradient(i, j)) / std::sqrt(gradient(i, i) * gradient(j, j)));
      }
    }
    EXPECT_LT(largest, 1e-3) << bands;  // the loss is off by the square of that
  }
}

TEST(Optimised, ForSeveralParticipationsTakesTheBetterOfNarrowAndWide) {
  // A narrow column has b entries, b the separation; a wide one falls over all steps. For `many` the narrow one is
  // better than the best wide one, and for `few` the wide one is better than any of b entries.
  const PrefixSums many{StepCount{1000}, {10, 100}, PrefixError::largest};
  const PrefixSums few{StepCount{500}, {4, 50}, PrefixError::largest};
  const auto bands = [](const PrefixSums& problem) {
    const Correlation correlation = optimised_toeplitz(problem);
    return std::get<noise::Strategy>(correlation.family()).c.size();
  };
  EXPECT_EQ(bands(many), 100U);
  EXPECT_EQ(bands(few), 500U);
  EXPECT_LT(prefix_sum_loss(optimised_toeplitz(few), few), 0.9 * prefix_sum_loss(optimised_toeplitz(few, 50), few));
  // The rational fits of the same problems are falling columns too.
  EXPECT_LT(prefix_sum_loss(optimised_toeplitz(many), many),
            0.93 * prefix_sum_loss(optimised_rational(many, 3), many));
  EXPECT_LT(prefix_sum_loss(optimised_toeplitz(few), few), 0.95 * prefix_sum_loss(optimised_rational(few, 2), few));
  // A matrix of b bands is better than a Toeplitz one.
  const PrefixSums mean{StepCount{200}, {4, 50}, PrefixError::mean};
  const Correlation dense = optimised_dense(mean);
  EXPECT_EQ(std::get<noise::Dense>(dense.family()).bands(), 50U);
  EXPECT_LT(prefix_sum_loss(dense, mean), 0.99 * prefix_sum_loss(optimised_toeplitz(mean, 50), mean));
}

// Every record is in every step, as in full-batch descent: correlation that falls then gains nothing for prefix sums.
TEST(Optimised, IsIndependentNoiseWhereEveryRecordIsInEveryStep) {
  const PrefixSums problem{StepCount{100}, {100, 1}, PrefixError::largest};
  EXPECT_NEAR(prefix_sum_loss(optimised_toeplitz(problem), problem), 1e4, 1e-6);
}

TEST(Optimised, HasALossAtOneStep) {
  for (const PrefixError error : {PrefixError::largest, PrefixError::mean}) {
    const PrefixSums one = once(1, error);
    for (const Correlation& correlation :
         {optimised_toeplitz(one), optimised_rational(one, 2), optimised_dense(one)}) {
      EXPECT_NEAR(prefix_sum_loss(correlation, one), 1, 1e-12) << correlation.name();
    }
  }
}

// The closed form against the sum over the coefficients, which is how the loss of a strategy with the same column is
// computed.
TEST(Optimised, LossOfARationalCorrelationNeedsNoCoefficients) {
  const noise::Rational alternating = noise::Rational::from_poles({0.9, 0.3}, {0.7, 0.5});
  ASSERT_LT(alternating.p().back(), 0);
  for (const noise::Rational& rational : {noise::Rational::nu_ftrl(Damping{1e-3}, 5), alternating}) {
    for (const PrefixSums& problem :
         {once(1, PrefixError::mean), once(700, PrefixError::largest), once(701, PrefixError::mean),
          PrefixSums{StepCount{300}, {4, 60}, PrefixError::mean}}) {
      const auto steps = static_cast<std::size_t>(problem.horizon.value());
      const Correlation listed{
          noise::Strategy{noise::strategy_coefficients(Correlation{rational}, steps), problem.horizon}};
      const double expected = prefix_sum_loss(listed, problem);
      EXPECT_NEAR(prefix_sum_loss(Correlation{rational}, problem), expected, 1e-10 * expected) << steps;
    }
  }
  const PrefixSums vast = once(1'000'000'000'000, PrefixError::largest);
  EXPECT_GT(prefix_sum_loss(optimised_rational(vast, 6), vast), 50);
  EXPECT_THROW((void)prefix_sum_loss(Correlation{noise::Independent{}}, vast), Unsupported);
}

// Several starts end in one valley, so more poles are never worse, also at horizons and for errors without a
// reference.
TEST(Optimised, OfMorePolesIsBetter) {
  for (const PrefixSums& problem :
       {once(30, PrefixError::mean), once(3000, PrefixError::mean), once(1'000'000, PrefixError::largest),
        PrefixSums{StepCount{10'000}, {3, 3000}, PrefixError::mean}}) {
    double before = HUGE_VAL;
    for (std::size_t poles = 1; poles <= 6; ++poles) {
      const double loss = prefix_sum_loss(optimised_rational(problem, poles), problem);
      EXPECT_LE(loss, before * (1 + 1e-6)) << problem.horizon.value() << ", " << poles;
      before = loss;
    }
  }
}

TEST(Optimised, RefusesWhatItCannotFit) {
  const PrefixSums problem = once(100, PrefixError::largest);
  EXPECT_THROW((void)optimised_toeplitz(once(0, PrefixError::mean)), InvalidParameter);
  EXPECT_THROW((void)optimised_toeplitz(problem, 0), InvalidParameter);
  EXPECT_THROW((void)optimised_toeplitz(problem, 101), InvalidParameter);
  EXPECT_THROW((void)optimised_toeplitz(once(1'000'000, PrefixError::mean)), Unsupported);
  EXPECT_THROW((void)optimised_rational(once(0, PrefixError::mean), 2), InvalidParameter);
  EXPECT_THROW((void)optimised_rational(problem, 0), InvalidParameter);
  EXPECT_THROW((void)optimised_rational(problem, 13), InvalidParameter);
  EXPECT_THROW((void)optimised_rational({StepCount{100'000}, {5000, 20}, PrefixError::mean}, 2), Unsupported);
  EXPECT_THROW((void)optimised_dense(once(0, PrefixError::mean)), InvalidParameter);
  EXPECT_THROW((void)optimised_dense(problem, 0), InvalidParameter);
  EXPECT_THROW((void)optimised_dense(problem, 101), InvalidParameter);
  EXPECT_THROW((void)optimised_dense(problem, 10), Unsupported);
  EXPECT_THROW((void)optimised_dense(once(100'000, PrefixError::mean)), InvalidParameter);
  EXPECT_THROW((void)prefix_sum_loss_bound({StepCount{100}, {2, 3}, PrefixError::mean}), Unsupported);
  EXPECT_THROW((void)prefix_sum_loss_bound(once(20'001, PrefixError::mean)), Unsupported);
  EXPECT_THROW((void)prefix_sum_loss(optimised_rational(problem, 1), once(101, PrefixError::mean)), Unsupported);
}

// A resumed run has to find the same coefficients again, on another machine too: whichever compiler and processor
// this runs on, the bits are these. They were found with gcc 12 at -O0 and -O3, with and without AVX-512, with clang
// 16 and with an aarch64 cross compiler.
TEST(Optimised, HasTheSameBitsOnEveryMachine) {
  const PrefixSums mean = once(200, PrefixError::mean);
  const PrefixSums several{StepCount{200}, {3, 40}, PrefixError::largest};
  EXPECT_EQ(testing::bits(optimised_toeplitz(mean)), 374069490457618887U);
  EXPECT_EQ(testing::bits(optimised_toeplitz(mean, 16)), 404433718038738262U);
  EXPECT_EQ(testing::bits(optimised_toeplitz(several)), 12781850028878185781U);
  EXPECT_EQ(testing::bits(optimised_rational(mean, 4)), 10794450164272133569U);
  EXPECT_EQ(testing::bits(optimised_dense(mean)), 15779601260866167305U);
  EXPECT_EQ(testing::bits(optimised_dense(mean, 8)), 2359631737722721824U);
  EXPECT_EQ(testing::bits(optimised_dense(once(200, PrefixError::largest))), 3229944971935876787U);
}

}  // namespace
}  // namespace nustream::privacy
