#include "nustream/model/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "nustream/base/error.h"

namespace nustream::model {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(LossNames, AreEachOthersInverse) {
  EXPECT_EQ(loss_kinds().size(), 7U);
  for (const Loss::Kind kind : loss_kinds()) EXPECT_EQ(loss_kind(name(kind)), kind);
  EXPECT_THROW((void)loss_kind("Linear"), InvalidParameter);
  EXPECT_THROW((void)loss_kind(""), InvalidParameter);
}

TEST(Loss, OnlyTheMeanNeedsNoTargetAndRegularisesItself) {
  for (const Loss::Kind kind : loss_kinds()) {
    EXPECT_EQ(needs_target(kind), kind != Loss::Kind::mean);
    EXPECT_EQ(own_regularisation(kind), kind == Loss::Kind::mean ? 1.0 : 0.0);
  }
}

TEST(Loss, RefusesAHuberThresholdThatIsNoLength) {
  for (const double threshold : {0.0, -1.0, infinity, std::nan("")}) {
    EXPECT_THROW(check({Loss::Kind::huber, threshold}), InvalidParameter);
    EXPECT_NO_THROW(check({Loss::Kind::linear, threshold}));
  }
}

// The central difference of f is off by h²f'''/6 + 2^-52|f|/h, which is below 1e-8 here.
TEST(Loss, GradientIsTheDerivativeOfTheValue) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  constexpr double h = 1e-5;
  for (const Loss::Kind kind : loss_kinds()) {
    const Loss loss{kind, 0.8, 0.3, 0.9, 4};
    for (int repetition = 0; repetition < 200; ++repetition) {
      std::vector<double> theta(4 * predictors(loss));
      std::vector<double> x(4);
      for (double& entry : theta) entry = normal(random);
      for (double& entry : x) entry = 0.7 * normal(random);
      const double y = kind == Loss::Kind::logistic      ? repetition % 2
                       : kind == Loss::Kind::multinomial ? repetition % 4
                                                         : 2 * normal(random);
      const std::vector<double> g = gradient(loss, theta, x, y);
      for (std::size_t j = 0; j < theta.size(); ++j) {
        std::vector<double> above = theta;
        std::vector<double> below = theta;
        above[j] += h;
        below[j] -= h;
        const double slope = (value(loss, above, x, y) - value(loss, below, x, y)) / (2 * h);
        // The f'' of Huber's and of the quantile's loss jumps: a difference across the jump is off by h·x_j²/4 at
        // most.
        const bool jumps = kind == Loss::Kind::huber || kind == Loss::Kind::quantile;
        const double tolerance = jumps ? 2e-5 : 1e-7;
        EXPECT_NEAR(slope, g[j], tolerance * (1 + std::fabs(g[j]))) << name(kind);
      }
    }
  }
}

// CDP+ section 2.1 clips x, and not θ − x.
TEST(MeanLoss, HasAGradientThatDoesNotDependOnTheIterate) {
  const std::vector<double> x = {3.0, -4.0};
  for (const double scale : {0.0, 1.0, 1e300}) {
    const std::vector<double> theta = {scale, -scale};
    EXPECT_EQ(gradient({Loss::Kind::mean}, theta, x, 0), (std::vector<double>{-3.0, 4.0}));
  }
}

TEST(LinearLoss, CarriesTheHalf) {
  EXPECT_EQ(value({Loss::Kind::linear}, std::vector{2.0}, std::vector{3.0}, 1.0), 12.5);
  EXPECT_EQ(gradient({Loss::Kind::linear}, std::vector{2.0}, std::vector{3.0}, 1.0), std::vector{15.0});
}

TEST(HuberLoss, IsLinearBeyondItsThreshold) {
  const Loss loss{Loss::Kind::huber, 2.0};
  EXPECT_EQ(gradient(loss, std::vector{1.0}, std::vector{1.0}, 0.5), std::vector{0.5});
  EXPECT_EQ(gradient(loss, std::vector{1.0}, std::vector{3.0}, -5.0), std::vector{6.0});
  EXPECT_EQ(gradient(loss, std::vector{1.0}, std::vector{3.0}, 50.0), std::vector{-6.0});
  EXPECT_EQ(value(loss, std::vector{1.0}, std::vector{3.0}, 0.0), 4.0);  // 2·3 − ½·2²
}

// The numbers are 1/(1 + e^40) and ln(1 + e^-40) in 50-digit arithmetic.
TEST(LogisticLoss, NeitherOverflowsNorLosesItsTail) {
  const Loss loss{Loss::Kind::logistic};
  const std::vector<double> one = {1.0};
  EXPECT_DOUBLE_EQ(gradient(loss, std::vector{-40.0}, one, 0)[0], 4.248354255291589e-18);
  EXPECT_DOUBLE_EQ(value(loss, std::vector{-40.0}, one, 0), 4.248354255291589e-18);
  EXPECT_EQ(gradient(loss, std::vector{-1000.0}, one, 1)[0], -1.0);
  EXPECT_EQ(gradient(loss, std::vector{1000.0}, one, 1)[0], 0.0);
  EXPECT_EQ(value(loss, std::vector{1000.0}, one, 0), 1000.0);
  EXPECT_EQ(gradient(loss, std::vector{0.0}, one, 1)[0], -0.5);
}

TEST(PoissonLoss, HasTheGradientOfTheLogLink) {
  const Loss loss{Loss::Kind::poisson};
  EXPECT_DOUBLE_EQ(gradient(loss, std::vector{2.0}, std::vector{1.0}, 3)[0], std::exp(2.0) - 3);
  EXPECT_EQ(gradient(loss, std::vector{800.0}, std::vector{1.0}, 3)[0], infinity);
}

TEST(QuantileLoss, IsTheCheckLossBeyondItsBandwidth) {
  const Loss loss{.kind = Loss::Kind::quantile, .level = 0.9, .bandwidth = 0.5};
  EXPECT_DOUBLE_EQ(value(loss, std::vector{1.0}, std::vector{3.0}, 0.0), 0.1 * 3);
  EXPECT_DOUBLE_EQ(value(loss, std::vector{1.0}, std::vector{3.0}, 5.0), 0.9 * 2);
  EXPECT_DOUBLE_EQ(gradient(loss, std::vector{1.0}, std::vector{3.0}, 0.0)[0], 0.1 * 3);
  EXPECT_DOUBLE_EQ(gradient(loss, std::vector{1.0}, std::vector{3.0}, 5.0)[0], -0.9 * 3);
  EXPECT_DOUBLE_EQ(gradient(loss, std::vector{1.0}, std::vector{3.0}, 3.0)[0], (0.5 - 0.9) * 3);
}

// The smoothed loss is the check loss averaged over a window. The test averages by a sum over 10⁵ points of the
// window.
TEST(QuantileLoss, IsAnAverageOfTheCheckLoss) {
  const Loss loss{.kind = Loss::Kind::quantile, .level = 0.3, .bandwidth = 0.8};
  for (const double residual : {-2.0, -0.7, 0.0, 0.1, 0.79, 1.5}) {
    double sum = 0;
    constexpr int points = 100'000;
    for (int i = 0; i < points; ++i) {
      const double u = residual + 0.8 * (2 * (i + 0.5) / points - 1);
      sum += std::max(0.7 * u, -0.3 * u) / points;
    }
    EXPECT_NEAR(value(loss, std::vector{residual}, std::vector{1.0}, 0.0), sum, 1e-9);
  }
}

TEST(MultinomialLoss, OfTwoClassesIsTheLogisticLoss) {
  const Loss two{.kind = Loss::Kind::multinomial, .classes = 2};
  const std::vector<double> x = {1.0, -0.4};
  for (const double scale : {0.1, 3.0, 60.0}) {
    const std::vector<double> theta = {scale, 0.5 * scale};
    for (const double y : {0.0, 1.0}) {
      EXPECT_EQ(gradient(two, theta, x, y), gradient({Loss::Kind::logistic}, theta, x, y));
      EXPECT_NEAR(value(two, theta, x, y), value({Loss::Kind::logistic}, theta, x, y), 1e-14 * (1 + scale));
    }
  }
}

TEST(MultinomialLoss, GivesNothingToWhatIsNoLabel) {
  const Loss three{.kind = Loss::Kind::multinomial, .classes = 3};
  for (const double y : {-1.0, 0.5, 3.0, std::nan(""), infinity}) {
    EXPECT_TRUE(std::isnan(gradient(three, std::vector{0.0, 0.0}, std::vector{1.0}, y)[0])) << y;
  }
}

TEST(Loss, RefusesParametersOutOfRange) {
  EXPECT_THROW(check({.kind = Loss::Kind::quantile, .level = 1.0}), InvalidParameter);
  EXPECT_THROW(check({.kind = Loss::Kind::quantile, .bandwidth = 0.0}), InvalidParameter);
  EXPECT_THROW(check({.kind = Loss::Kind::multinomial, .classes = 1}), InvalidParameter);
}

}  // namespace
}  // namespace nustream::model
