// Tree aggregation: the noise of prefix sums, by hand, by least squares, and by the size that is claimed.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "noise/generator.h"
#include "nustream/noise/correlation.h"
#include "support/noise_generators_seed.h"

namespace nustream::noise {
namespace {

constexpr auto plain = Tree::Estimator::plain;
constexpr auto honaker = Tree::Estimator::honaker;

Eigen::MatrixXd matrix_of(const Tree& tree, std::size_t steps) {
  const std::vector<double> values = dense_noise_matrix(Correlation{tree}, steps);
  const auto rows = static_cast<Eigen::Index>(steps);
  const auto columns = static_cast<Eigen::Index>(steps * (tree.height + 1));
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(values.data(), rows, columns);
}

// The rows are the prefix sums P_t = Σ_{s≤t} z_s.
Eigen::MatrixXd prefix_sums(Eigen::MatrixXd rows) {
  for (Eigen::Index t = 1; t < rows.rows(); ++t) rows.row(t) += rows.row(t - 1);
  return rows;
}

TEST(TreeNoise, OfTwoSteps) {
  // The columns are (step 0, leaf), (step 0, root), (step 1, leaf), (step 1, root).
  EXPECT_EQ(dense_noise_matrix(Correlation{Tree{1, plain, false}}, 2),
            (std::vector<double>{1, 0, 0, 0, -1, 0, 0, 1}));
  const std::vector<double> z = dense_noise_matrix(Correlation{Tree{1, honaker, false}}, 2);
  const std::vector<double> expected{1, 0, 0, 0, -2.0 / 3, 0, 1.0 / 3, 2.0 / 3};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(z[i], expected[i], 1e-15) << i;
}

// The variance of a prefix's noise is the number of nodes that cover the prefix.
TEST(TreeNoise, PlainPrefixesAreCoveredByTheFewestNodes) {
  const Eigen::MatrixXd prefix = prefix_sums(matrix_of({6, plain, false}, 64));
  for (Eigen::Index t = 0; t < 64; ++t) {
    EXPECT_DOUBLE_EQ(prefix.row(t).squaredNorm(), std::popcount(static_cast<unsigned>(t) + 1)) << t;
  }
}

// A step uses only nodes that are completed, and never one that also holds later steps.
TEST(TreeNoise, UsesOnlyCompletedNodes) {
  for (const auto estimator : {plain, honaker}) {
    const Eigen::MatrixXd rows = matrix_of({4, estimator, true}, 40);
    for (Eigen::Index t = 0; t < rows.rows(); ++t) {
      for (Eigen::Index column = 0; column < rows.cols(); ++column) {
        const auto step = static_cast<std::uint64_t>(column / 5);
        const auto level = static_cast<int>(column % 5);
        const bool completed = std::countr_zero(step + 1) >= level;
        if (column / 5 > t || !completed) {
          EXPECT_EQ(rows(t, column), 0) << t << ' ' << column;
        }
      }
    }
  }
}

// Honaker's estimate from the completed nodes is the best linear unbiased one: for a whole subtree, generalised least
// squares over all its nodes gives the same variance.
TEST(TreeNoise, HonakerIsLeastSquaresForWholeSubtrees) {
  constexpr unsigned height = 4;
  const Eigen::MatrixXd prefix = prefix_sums(matrix_of({height, honaker, false}, 16));
  for (unsigned level = 0; level <= height; ++level) {
    const Eigen::Index leaves = Eigen::Index{1} << level;
    // Each node is one row of observation, which says which leaves the node sums.
    Eigen::MatrixXd nodes = Eigen::MatrixXd::Zero(2 * leaves - 1, leaves);
    Eigen::Index row = 0;
    for (Eigen::Index width = 1; width <= leaves; width *= 2) {
      for (Eigen::Index first = 0; first < leaves; first += width) nodes.row(row++).segment(first, width).setOnes();
    }
    const Eigen::MatrixXd covariance = (nodes.transpose() * nodes).inverse();
    EXPECT_NEAR(prefix.row(leaves - 1).squaredNorm(), covariance.sum(), 1e-13) << level;
    EXPECT_NEAR(covariance.sum(), 1 / (2 - std::ldexp(1.0, -static_cast<int>(level))), 1e-13) << level;
  }
}

// Honaker's own column norm at T = 2 is √1.8, which is within the two nodes that are charged.
TEST(TreeNoise, HonakerColumnNormIsBelowTheNumberOfLevels) {
  for (unsigned height = 0; height <= 5; ++height) {
    const Eigen::MatrixXd rows = matrix_of({height, honaker, false}, std::size_t{1} << height);
    // The least sensitive encoder of z = B w is C = B⁺, so CᵀC = (B Bᵀ)⁻¹.
    const Eigen::MatrixXd gram = (rows * rows.transpose()).inverse();
    const double largest = gram.diagonal().maxCoeff();
    EXPECT_LE(largest, height + 1 + 1e-12);
    if (height == 1) {
      EXPECT_NEAR(largest, 1.8, 1e-12);
    }
  }
}

// A whole tree stays in the prefix sum, and a fresh tree begins.
TEST(TreeNoise, RestartsKeepTheWholeTree) {
  for (const auto estimator : {plain, honaker}) {
    const Eigen::MatrixXd once = matrix_of({2, estimator, false}, 4);
    const Eigen::MatrixXd thrice = matrix_of({2, estimator, true}, 12);
    for (Eigen::Index tree = 0; tree < 3; ++tree) {
      EXPECT_EQ(thrice.block(4 * tree, 12 * tree, 4, 12), once);
    }
    EXPECT_NEAR(thrice.squaredNorm(), 3 * once.squaredNorm(), 1e-12);
  }
}

TEST(TreeNoise, LargestStddevIsThatOfTheLargestRow) {
  for (const auto estimator : {plain, honaker}) {
    for (unsigned height = 0; height <= 7; ++height) {
      const Tree tree{height, estimator, true};
      const Eigen::MatrixXd rows = matrix_of(tree, (std::size_t{1} << height) + 3);
      EXPECT_NEAR(largest_stddev(Correlation{tree}), std::sqrt(rows.rowwise().squaredNorm().maxCoeff()), 1e-13)
          << height;
    }
  }
}

TEST(TreeGenerator, RemembersLiveNodesAndNoOlderSeed) {
  constexpr std::size_t dimension = 3;
  for (const auto estimator : {plain, honaker}) {
    const auto generator = make_generator(Correlation{Tree{6, estimator, true}}, GeneratorKind::tree, dimension);
    EXPECT_EQ(generator->seed_width(), 7 * dimension);
    EXPECT_EQ(generator->oldest_needed(StepIndex{100}), StepIndex{100});
    testing::WhiteSeed seed(1, 7 * dimension);
    (void)testing::run_generator(*generator, seed, 64, dimension, 16);
    // After a whole tree nothing of it is needed again, and the generator keeps only zeros of it.
    const std::vector<double> memory = generator->memory();
    EXPECT_EQ(memory.size(), 6 * dimension);
    EXPECT_TRUE(std::all_of(memory.begin(), memory.end(), [](double value) { return value == 0; }));
  }
}

TEST(TreeGenerator, RefusesAForeignMemory) {
  const auto generator = make_generator(Correlation{Tree{3, honaker, true}}, GeneratorKind::tree, 2);
  EXPECT_THROW(generator->restore(StepIndex{4}, std::vector<double>(5)), InvalidParameter);
  EXPECT_THROW(generator->restore(StepIndex{4}, {}), InvalidParameter);
  EXPECT_NO_THROW(generator->restore(StepIndex{0}, {}));
  EXPECT_NO_THROW(generator->restore(StepIndex{4}, std::vector<double>(6)));
}

}  // namespace
}  // namespace nustream::noise
