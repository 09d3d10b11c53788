// What a plan of an instrumental-variable model says of step sizes and clip norms, against tables that are drawn. The
// seeds are fixed, so nothing here fails by chance; the rates of false alarms are those for other seeds.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "nustream/base/error.h"
#include "nustream/inference/two_stage_rules.h"

namespace nustream::inference {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const TwoStageGuess guess{4, 2, 0.8, 1.2, 0.5, 0.3, 1, 1500};

struct Table {
  MatrixXd z;
  MatrixXd x;
  VectorXd y;
};

class Tables {
 public:
  explicit Tables(std::uint64_t seed) : random_(seed) {}

  MatrixXd normal(Index rows, Index columns) {
    return MatrixXd::NullaryExpr(rows, columns, [&] { return normal_(random_); });
  }

  Table draw() {
    const auto n = static_cast<Index>(guess.records);
    const auto q = static_cast<Index>(guess.instruments);
    const auto p = static_cast<Index>(guess.regressors);
    MatrixXd theta = MatrixXd::Zero(q, p);  // with singular values from the weakest to the strongest
    theta(0, 0) = guess.strongest;
    theta(1, 1) = guess.weakest;
    Table table;
    table.z = normal(n, q);
    const MatrixXd error = guess.first_residual * normal(n, p);
    table.x = table.z * theta + error;
    const VectorXd beta = VectorXd::Constant(p, guess.distance / std::sqrt(static_cast<double>(p)));
    table.y = table.x * beta + guess.residual * normal(n, 1);
    return table;
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

MatrixXd first_stage(const Table& table) {
  return (table.z.transpose() * table.z).ldlt().solve(table.z.transpose() * table.x);
}

VectorXd two_stage_least_squares(const Table& table) {
  const MatrixXd fitted = table.z * first_stage(table);
  return (fitted.transpose() * fitted).ldlt().solve(fitted.transpose() * table.y);
}

struct Descent {
  VectorXd beta;
  double longest_first = 0;  ///< the longest gradient of a record
  double longest_second = 0;
};

Descent descend(Tables& random, const Table& table, double eta, double alpha, int steps, double first,
                double second) {
  const auto n = static_cast<double>(guess.records);
  MatrixXd theta = MatrixXd::Zero(table.z.cols(), table.x.cols());
  Descent run{VectorXd::Zero(table.x.cols())};
  for (int t = 0; t < steps; ++t) {
    const MatrixXd residual = table.z * theta - table.x;
    const MatrixXd fitted = table.z * theta;
    const VectorXd gap = fitted * run.beta - table.y;
    for (Index i = 0; i < table.z.rows(); ++i) {
      run.longest_first = std::max(run.longest_first, table.z.row(i).norm() * residual.row(i).norm());
      run.longest_second = std::max(run.longest_second, fitted.row(i).norm() * std::abs(gap(i)));
    }
    const MatrixXd down = table.z.transpose() * residual / n + first * random.normal(theta.rows(), theta.cols());
    run.beta -= alpha * (fitted.transpose() * gap / n + second * random.normal(run.beta.size(), 1));
    theta -= eta * down;
  }
  return run;
}

// Of 300 tables at least 285 have all eigenvalues where the rule says; the rule is well on the safe side.
TEST(TwoStageConditions, HoldInAsManyTablesAsTheySay) {
  const TwoStageConditions found = two_stage_conditions(guess, 0.05);
  Tables tables(81);
  int inside = 0;
  double ends = 0;
  for (int i = 0; i < 300; ++i) {
    const Table table = tables.draw();
    const auto n = static_cast<double>(guess.records);
    const MatrixXd fitted = table.z * first_stage(table);
    const VectorXd second = Eigen::SelfAdjointEigenSolver<MatrixXd>(fitted.transpose() * fitted / n).eigenvalues();
    const VectorXd first = Eigen::SelfAdjointEigenSolver<MatrixXd>(table.z.transpose() * table.z / n).eigenvalues();
    const bool holds = second.minCoeff() >= found.least && second.maxCoeff() <= found.largest &&
                       first.minCoeff() >= std::pow(1 - found.delta, 2) &&
                       first.maxCoeff() <= std::pow(1 + found.delta, 2);
    inside += holds ? 1 : 0;
    ends = std::max(ends, second.maxCoeff());
  }
  EXPECT_GE(inside, 285);
  // The bound is not needlessly large: the largest eigenvalue that was drawn is within 30% of it.
  EXPECT_GT(1.3 * ends, found.largest);
}

// Theorem 3.1: without noise the error falls at least as fast as κ^(T/2) under step sizes below the theorem's bounds.
// At ten times the second bound it grows without end.
TEST(TwoStageConditions, AreStepSizesUnderWhichADescentContracts) {
  const TwoStageConditions found = two_stage_conditions(guess, 0.05);
  Tables tables(82);
  for (const double share : {0.2, 0.6, 1.0}) {
    const auto [eta, alpha] = std::pair{share * found.eta, share * found.alpha};
    ASSERT_LT(alpha, found.alpha_max);
    const double kappa = contraction(found, eta, alpha);
    ASSERT_LT(kappa, 1);
    for (int i = 0; i < 20; ++i) {
      const Table table = tables.draw();
      const VectorXd limit = two_stage_least_squares(table);
      const auto error = [&](int steps) {
        return (descend(tables, table, eta, alpha, steps, 0, 0).beta - limit).norm();
      };
      const double early = error(10);
      EXPECT_LT(error(30), early * std::pow(kappa, 10)) << share;
    }
  }
  const Table table = tables.draw();
  EXPECT_GT(descend(tables, table, found.eta, 10 * found.alpha_max, 200, 0, 0).beta.norm(), 1e6);
  EXPECT_GE(contraction(found, found.eta, found.alpha_max * 1.001), 1 - 1e-9);
  EXPECT_LT(contraction(found, found.eta, found.alpha_max * 0.999), 1);
}

// With endless records the conditions are those of Remark 3.2.
TEST(TwoStageConditions, AreThePopulationsInTheLimit) {
  TwoStageGuess endless = guess;
  endless.records = std::uint64_t{1} << 60U;
  const TwoStageConditions found = two_stage_conditions(endless, 0.05);
  EXPECT_NEAR(found.eta_max, 2, 1e-6);
  EXPECT_NEAR(found.alpha_max, 4 / (2 * 1.44 + 0.64), 1e-6);
  EXPECT_NEAR(found.eta, 1, 1e-6);
  EXPECT_NEAR(contraction(found, found.eta, found.alpha), 1.44 / (1.44 + 0.64), 1e-6);  // equation (8)
}

// Lemma D.1 with constants that are given: of 200 tables, at most as many are clipped anywhere as the bound allows.
TEST(TwoStageClips, ClipNothingInAsManyTablesAsTheySay) {
  constexpr int steps = 12;
  constexpr double eta = 0.5;
  constexpr double alpha = 0.4;
  constexpr double first = 0.002;  // the noise for clip norms of 1
  constexpr double second = 0.002;
  const double decay = std::pow(1 - alpha * 0.5, 2);
  const TwoStageNoise noise{eta * eta * first * first / (1 - std::pow(1 - eta, 2)),
                            alpha * alpha * second * second / (1 - decay)};
  const auto clips = two_stage_clips(guess, noise, steps, 0.05);
  ASSERT_TRUE(clips.has_value());
  Tables tables(83);
  int clipped = 0;
  int at_a_tenth = 0;
  for (int i = 0; i < 200; ++i) {
    const Table table = tables.draw();
    const Descent run = descend(tables, table, eta, alpha, steps, first * clips->first, second * clips->second);
    clipped += run.longest_first > clips->first || run.longest_second > clips->second ? 1 : 0;
    at_a_tenth += run.longest_first > clips->first / 10 && run.longest_second > clips->second / 10 ? 1 : 0;
  }
  EXPECT_LE(clipped, 10);
  // The clip norms are not needlessly large: at a tenth of them, more than half of the tables are clipped.
  EXPECT_GT(at_a_tenth, 100);
  EXPECT_FALSE(two_stage_clips(guess, {1, 1}, steps, 0.05).has_value()) << "more noise than it lets through";
}

TEST(TwoStageRules, RefuseWhatIsNoGuess) {
  TwoStageGuess wrong = guess;
  wrong.regressors = 5;
  EXPECT_THROW((void)two_stage_conditions(wrong, 0.05), InvalidParameter);
  wrong = guess;
  wrong.weakest = 2;
  EXPECT_THROW((void)two_stage_clips(wrong, {0, 0}, 1, 0.05), InvalidParameter);
  // There are too few records to be sure of anything.
  wrong = guess;
  wrong.records = 10;
  EXPECT_EQ(two_stage_conditions(wrong, 0.05).least, 0);
}

}  // namespace
}  // namespace nustream::inference
