// Correlations given as a matrix: which matrices are valid, and that the noise is the inverse of what was given.
#include "nustream/noise/dense.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/noise/correlation.h"

namespace nustream::noise {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Dense random_dense(std::mt19937_64& random, std::size_t steps, std::size_t bands) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> rows;
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t i = 1; i < std::min(t + 1, bands); ++i)
      rows.push_back(uniform(random) / static_cast<double>(i + 1));
    rows.push_back(1.5 + uniform(random));
  }
  return {rows, bands, StepCount{steps}};
}

RowMajor written_out(const Dense& encoder) {
  const auto steps = static_cast<Eigen::Index>(encoder.horizon().value());
  RowMajor c = RowMajor::Zero(steps, steps);
  for (Eigen::Index t = 0; t < steps; ++t) {
    const auto row = encoder.row(static_cast<std::size_t>(t));
    for (Eigen::Index i = 0; i < static_cast<Eigen::Index>(row.size()); ++i) {
      c(t, t + 1 - static_cast<Eigen::Index>(row.size()) + i) = row[static_cast<std::size_t>(i)];
    }
  }
  return c;
}

TEST(Dense, RefusesWhatIsNoEncoder) {
  EXPECT_NO_THROW(Dense({1, 0.5, 1, 0.5, 1}, 2, StepCount{3}));
  EXPECT_THROW(Dense({1, 0.5, 1, 0.5}, 2, StepCount{3}), InvalidParameter);
  EXPECT_THROW(Dense({1, 0.5, 1, 0.5, 0}, 2, StepCount{3}), InvalidParameter);
  EXPECT_THROW(Dense({1, 0.5, 1, 0.5, -1}, 2, StepCount{3}), InvalidParameter);
  EXPECT_THROW(Dense({1, NAN, 1, 0.5, 1}, 2, StepCount{3}), InvalidParameter);
  EXPECT_THROW(Dense({1, 0.5, INFINITY, 0.5, 1}, 2, StepCount{3}), InvalidParameter);
  EXPECT_THROW(Dense({}, 1, StepCount{0}), InvalidParameter);
  EXPECT_THROW(Dense({1}, 0, StepCount{1}), InvalidParameter);
  EXPECT_THROW(Dense({1}, 2, StepCount{1}), InvalidParameter);
}

TEST(Dense, RefusesMoreEntriesThanItHolds) {
  EXPECT_EQ(Dense::entries(4095, StepCount{4095}), 4095U * 2048U);
  EXPECT_THROW((void)Dense::entries(4097, StepCount{4097}), InvalidParameter);
  EXPECT_THROW((void)Dense::entries(std::size_t{1} << 40, StepCount{std::uint64_t{1} << 62}), InvalidParameter);
  EXPECT_EQ(Dense::entries(8, StepCount{1'000'000}), 8U * 1'000'000U - 28U);
}

TEST(Dense, RowsEndAtTheDiagonal) {
  const Dense encoder({11, 21, 22, 32, 33, 43, 44}, 2, StepCount{4});
  EXPECT_EQ(std::vector<double>(encoder.row(0).begin(), encoder.row(0).end()), (std::vector<double>{11}));
  EXPECT_EQ(std::vector<double>(encoder.row(1).begin(), encoder.row(1).end()), (std::vector<double>{21, 22}));
  EXPECT_EQ(std::vector<double>(encoder.row(3).begin(), encoder.row(3).end()), (std::vector<double>{43, 44}));
}

TEST(Dense, NoiseMatrixIsTheInverse) {
  std::mt19937_64 random(3);
  for (const std::size_t steps : {1U, 2U, 17U, 16U, 40U, 75U}) {
    for (const std::size_t bands : {std::size_t{1}, steps / 3 + 1, steps}) {
      const Dense encoder = random_dense(random, steps, bands);
      const std::vector<double> matrix = dense_noise_matrix(Correlation{encoder}, steps);
      const auto size = static_cast<Eigen::Index>(steps);
      const Eigen::Map<const RowMajor> b(matrix.data(), size, size);
      EXPECT_LT((b * written_out(encoder) - RowMajor::Identity(size, size)).cwiseAbs().maxCoeff(), 1e-11) << steps;
      EXPECT_NEAR(largest_stddev(Correlation{encoder}), b.rowwise().norm().maxCoeff(),
                  1e-13 * b.rowwise().norm().maxCoeff());
      // The first steps of a matrix are those of a shorter one.
      const std::vector<double> first = dense_noise_matrix(Correlation{encoder}, steps / 2 + 1);
      EXPECT_EQ(first.back(), b(size / 2, size / 2));
      EXPECT_THROW((void)dense_noise_matrix(Correlation{encoder}, steps + 1), Unsupported);
    }
  }
}

// A Toeplitz encoder that is written out as a matrix is the same correlation.
TEST(Dense, HoldsToeplitzEncoders) {
  const std::vector<double> c{1, 0.6, 0.4, 0.1};
  std::vector<double> rows;
  for (std::size_t t = 0; t < 30; ++t) {
    for (std::size_t i = std::min<std::size_t>(t + 1, 4); i-- > 0;) rows.push_back(c[i]);
  }
  const Correlation dense{Dense(rows, 4, StepCount{30})};
  const Correlation toeplitz{Strategy{c, StepCount{30}}};
  const std::vector<double> one = dense_noise_matrix(dense, 30);
  const std::vector<double> other = dense_noise_matrix(toeplitz, 30);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], other[i], 1e-15);
  EXPECT_NEAR(largest_stddev(dense), largest_stddev(toeplitz), 1e-15);
}

TEST(Dense, HasNoCoefficients) {
  const Correlation dense{Dense({1, 0.5, 1}, 2, StepCount{2})};
  EXPECT_THROW((void)noise_coefficients(dense, 2), Unsupported);
  EXPECT_THROW((void)strategy_coefficients(dense, 2), Unsupported);
}

}  // namespace
}  // namespace nustream::noise
