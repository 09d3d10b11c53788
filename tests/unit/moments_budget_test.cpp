// What the noise of the sums costs.
#include "nustream/moments/budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "nustream/base/error.h"
#include "nustream/privacy/sensitivity.h"

namespace nustream::moments {
namespace {

constexpr auto replace_one = privacy::Adjacency::replace_one;

Design design_of(std::size_t endogenous, Spread spread, privacy::Adjacency adjacency, bool target_only = false) {
  return {{3, endogenous}, spread, {adjacency, target_only}};
}

TEST(Displacement, IsWhatOneRecordMovesInUnitsOfTheRadius) {
  const Design zero_out = design_of(1, Spread::residuals, privacy::Adjacency::zero_out);
  for (const Block block : blocks(zero_out)) EXPECT_EQ(displacement(zero_out, block).value(), 1);
  const Design replaced = design_of(1, Spread::residuals, replace_one);
  EXPECT_EQ(displacement(replaced, Block::second).value(), std::numbers::sqrt2);
  EXPECT_EQ(displacement(replaced, Block::regressors).value(), 2);
  EXPECT_EQ(displacement(replaced, Block::target).value(), 2);
  EXPECT_EQ(displacement(replaced, Block::spread).value(), std::numbers::sqrt2);
  EXPECT_EQ(displacement(design_of(0, Spread::residuals, replace_one), Block::spread).value(), 1);
  EXPECT_EQ(displacement(design_of(0, Spread::sandwich, replace_one), Block::spread).value(), std::numbers::sqrt2);
  EXPECT_EQ(displacement(design_of(0, Spread::tight_sandwich, replace_one), Block::spread).value(),
            std::numbers::sqrt2);
  EXPECT_GE(std::numbers::sqrt2 * std::numbers::sqrt2, 2);
}

TEST(Displacement, OfTheTargetAloneLeavesInputsExact) {
  const Design zero_out = design_of(1, Spread::none, privacy::Adjacency::zero_out, true);
  EXPECT_EQ(noised_blocks(zero_out), std::vector{Block::target});
  EXPECT_EQ(displacement(zero_out, Block::target).value(), 1);
  const Design replaced = design_of(0, Spread::sandwich, replace_one, true);
  EXPECT_EQ(displacement(replaced, Block::target).value(), 2);
  EXPECT_EQ(displacement(replaced, Block::spread).value(), 1);
  EXPECT_THROW(static_cast<void>(displacement(replaced, Block::second)), InvalidParameter);
}

TEST(Joint, OfZeroOutIsTheSumWhichOneRecordReaches) {
  const Design design = design_of(1, Spread::residuals, privacy::Adjacency::zero_out);
  const double found = joint(design, {Rho{.1}, Rho{.2}, Rho{.3}, Rho{.4}}).value();
  EXPECT_GE(found, 1.0);
  EXPECT_NEAR(found, 1.0, 1e-14);
}

/// The largest move of both sums for unit residuals, searched over the lengths of two records' inputs and their
/// cosine.
double searched(double second, double responses) {
  double largest = 0;
  for (int i = 0; i <= 40; ++i) {
    for (int j = 0; j <= 40; ++j) {
      for (int k = 0; k <= 400; ++k) {
        const double a = i / 40.0;
        const double b = j / 40.0;
        const double c = k / 400.0;
        const double of_second = a * a * a * a + b * b * b * b - 2 * a * a * b * b * c * c;
        const double of_responses = a * a + b * b + 2 * a * b * c;
        largest = std::max(largest, second / 2 * of_second + responses / 4 * of_responses);
      }
    }
  }
  return largest;
}

TEST(Joint, OfReplaceOneIsTheLargestOverAllPairsOfRecords) {
  const Design design = design_of(0, Spread::none, replace_one);
  for (const double share : {.01, .05, .2, .25, .5, .7, .9}) {
    const double found = joint(design, {Rho{share}, Rho{1 - share}}).value();
    const double largest = searched(share, 1 - share);
    EXPECT_GE(found, largest);
    EXPECT_NEAR(found, largest, 1e-5);
  }
  // With several responses the sum of their shares counts, and the spread comes on top.
  const Design several = design_of(1, Spread::residuals, replace_one);
  EXPECT_NEAR(joint(several, {Rho{.5}, Rho{.2}, Rho{.3}, Rho{.125}}).value(),
              joint(design, {Rho{.5}, Rho{.5}}).value() + .125, 1e-13);
}

// λ_min moves by at most a record's radius, whatever the other sums move by at the same time.
TEST(Joint, OfAnAdaptiveRidgeAddsTheEigenvaluesOwn) {
  for (const auto adjacency : {privacy::Adjacency::zero_out, replace_one}) {
    Design design = design_of(0, Spread::none, adjacency);
    const double moments = joint(design, {Rho{.3}, Rho{.4}}).value();
    design.solution = Solution::adassp;
    EXPECT_EQ(noised_blocks(design), (std::vector{Block::second, Block::target, Block::eigenvalue}));
    EXPECT_EQ(displacement(design, Block::eigenvalue).value(), 1);
    EXPECT_NEAR(joint(design, {Rho{.3}, Rho{.4}, Rho{.25}}).value(), moments + .25, 1e-13);
  }
}

TEST(Calibrate, SpendsTheBudgetInTheGivenProportions) {
  const noise::Correlation correlation{noise::NuFtrl{Damping{0}, StepCount{398}}};
  for (const auto adjacency : {privacy::Adjacency::zero_out, replace_one}) {
    for (const bool target_only : {false, true}) {
      const Mechanism mechanism{design_of(1, Spread::residuals, adjacency, target_only), {2, 3, 5}, correlation};
      const Shares shares = target_only ? Shares{3, 1} : Shares{2, 1, 3, 1};
      const std::vector<NoiseMultiplier> sigmas = calibrate(mechanism, shares, Rho{.1});
      const double spent = Spend(mechanism, sigmas).limit().value();
      EXPECT_LE(spent, .1);
      EXPECT_GE(spent, .1 * (1 - 1e-13));
      const double first = sigmas[0].value() * sigmas[0].value() * shares[0];
      for (std::size_t i = 1; i < shares.size(); ++i) {
        EXPECT_NEAR(sigmas[i].value() * sigmas[i].value() * shares[i], first, 1e-12 * first);
      }
    }
  }
}

// Taken jointly, replace-one costs 22% less than the sum of the two blocks' costs at equal shares.
TEST(Calibrate, OfReplaceOneUsesThatNotBothAreAtTheirMost) {
  const noise::Correlation correlation{noise::Independent{}};
  const Mechanism mechanism{design_of(0, Spread::none, replace_one), {}, correlation};
  const std::vector<NoiseMultiplier> sigmas = calibrate(mechanism, {1, 1}, Rho{.1});
  const double separately = 2 * privacy::rho(Sensitivity{1}, sigmas[0]).value();
  EXPECT_NEAR(separately, .1 / .78125, 1e-12);
}

TEST(Calibrate, RefusesSharesThatAreNone) {
  const Mechanism mechanism{design_of(0, Spread::none, replace_one), {}, noise::Correlation{noise::Independent{}}};
  EXPECT_THROW(static_cast<void>(calibrate(mechanism, {1}, Rho{.1})), InvalidParameter);
  EXPECT_THROW(static_cast<void>(calibrate(mechanism, {1, 0}, Rho{.1})), InvalidParameter);
  EXPECT_THROW(static_cast<void>(calibrate(mechanism, {1, NAN}, Rho{.1})), InvalidParameter);
  EXPECT_THROW(static_cast<void>(calibrate(mechanism, {1, 1}, Rho{0})), InvalidParameter);
  EXPECT_THROW(check(BatchParticipation{1, 1, 0}), InvalidParameter);
}

}  // namespace
}  // namespace nustream::moments
