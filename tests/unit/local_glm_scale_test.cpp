// The scale equation of generalised linear models, against a scan and against an independent implementation's root.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/inference/local_solver.h"

namespace nustream::inference {
namespace {

double f_of(GlmFamily family, const std::vector<double>& predictions, double c) {
  double sum = 0;
  for (const double prediction : predictions) sum += cumulant_second_derivative(family, c * prediction);
  return c * sum / static_cast<double>(predictions.size());
}

/// The first crossing of 1 from `start` on, found in tiny steps, to 1e-6; empty where there is none up to `end`.
std::optional<double> scanned_root(GlmFamily family, const std::vector<double>& predictions, double start,
                                   double end) {
  for (double c = start; c < end; c *= 1.0005) {
    if (f_of(family, predictions, c * 1.0005) < 1) continue;
    double low = c, high = c * 1.0005;
    for (int halving = 0; halving < 60; ++halving) {
      const double middle = (low + high) / 2;
      (f_of(family, predictions, middle) < 1 ? low : high) = middle;
    }
    return low;
  }
  return std::nullopt;
}

// The root of an independent implementation for ỹ_j = .1 sin(j), j < 50.
TEST(GlmScale, TheReferenceRoot) {
  std::vector<double> predictions;
  for (int j = 0; j < 50; ++j) predictions.push_back(0.1 * std::sin(j));
  const GlmScale scale = glm_scale(GlmFamily::logistic, predictions);
  EXPECT_TRUE(scale.exists);
  EXPECT_NEAR(scale.c, 4.083526822988093, 1e-12);
  EXPECT_NEAR(scale.reached, 1, 1e-14);
  EXPECT_LT(scale.newton_steps, 10);
}

TEST(GlmScale, AgreesWithAScanOverManySizesOfPredictions) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  int roots = 0;
  int none = 0;
  for (int trial = 0; trial < 120; ++trial) {
    const double size = 0.02 * std::pow(1.06, trial);
    std::vector<double> predictions(60);
    // Some trials mix scales, so that f has several peaks.
    for (double& entry : predictions) entry = size * normal(random) * (trial % 3 == 0 && random() % 2 == 0 ? 50 : 1);
    const GlmScale scale = glm_scale(GlmFamily::logistic, predictions);
    const std::optional<double> scanned = scanned_root(GlmFamily::logistic, predictions, 4, 1e6);
    ASSERT_EQ(scale.exists, scanned.has_value()) << trial << ": f reaches " << scale.reached << " at " << scale.c;
    if (scanned) {
      EXPECT_NEAR(scale.c, *scanned, 1e-9 * *scanned) << trial;
      ++roots;
    } else {
      EXPECT_LT(scale.reached, 1);
      EXPECT_NEAR(scale.reached, f_of(GlmFamily::logistic, predictions, scale.c), 1e-12);
      for (double c = 4; c < 1e4; c *= 1.01) {
        ASSERT_LE(f_of(GlmFamily::logistic, predictions, c), scale.reached * (1 + 1e-6)) << "a higher point: " << c;
      }
      ++none;
    }
  }
  EXPECT_GT(roots, 20);
  EXPECT_GT(none, 20);
}

TEST(GlmScale, PoissonGoesBothWays) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  for (const double shift : {-0.6, 0.0, 0.8}) {
    std::vector<double> predictions(400);
    for (double& entry : predictions) entry = shift + 0.3 * normal(random);
    const GlmScale scale = glm_scale(GlmFamily::poisson, predictions);
    ASSERT_TRUE(scale.exists) << shift;
    EXPECT_NEAR(f_of(GlmFamily::poisson, predictions, scale.c), 1, 1e-12);
    EXPECT_EQ(scale.c<1, f_of(GlmFamily::poisson, predictions, 1)> 1);
  }
  // Huge predictions overflow e^s on the way, which does no harm.
  EXPECT_TRUE(glm_scale(GlmFamily::poisson, std::vector<double>{2000, -2000}).exists);
  // Where all predictions are negative and large, f never reaches 1.
  EXPECT_FALSE(glm_scale(GlmFamily::poisson, std::vector<double>{-3, -4}).exists);
}

TEST(GlmScale, EdgeCases) {
  EXPECT_EQ(glm_scale(GlmFamily::linear, std::vector<double>{5}).c, 1);
  const GlmScale zero = glm_scale(GlmFamily::logistic, std::vector<double>{0, 0});
  EXPECT_TRUE(zero.exists);
  EXPECT_NEAR(zero.c, 4, 1e-12);
  EXPECT_THROW(static_cast<void>(glm_scale(GlmFamily::logistic, {})), InvalidParameter);
  EXPECT_THROW(static_cast<void>(glm_scale(GlmFamily::logistic, std::vector<double>{std::nan("")})),
               InvalidParameter);
  const std::vector<double> one{0.1};
  EXPECT_THROW(static_cast<void>(glm_scale(GlmFamily::logistic, one, std::vector<double>{-1})), InvalidParameter);
  EXPECT_THROW(static_cast<void>(glm_scale(GlmFamily::logistic, one, std::vector<double>{0})), InvalidParameter);
  EXPECT_THROW(static_cast<void>(glm_scale(GlmFamily::logistic, one, std::vector<double>{1, 1})), InvalidParameter);
}

TEST(GlmScale, WeightsCountRows) {
  const std::vector<double> rows{0.3, -0.1, -0.1, 0.2, 0.2, 0.2};
  const std::vector<double> kinds{0.3, -0.1, 0.2, 7};
  const std::vector<double> weights{1, 2, 3, 0};
  EXPECT_NEAR(glm_scale(GlmFamily::logistic, rows).c, glm_scale(GlmFamily::logistic, kinds, weights).c, 1e-12);
}

TEST(GlmFamily, DerivativesAreThoseOfTheCumulant) {
  for (const GlmFamily family : {GlmFamily::linear, GlmFamily::logistic, GlmFamily::poisson}) {
    for (const double s : {-30.0, -3.0, -0.1, 0.0, 0.4, 5.0, 25.0}) {
      const double h = 1e-5;
      const double numeric =
          (cumulant_second_derivative(family, s + h) - cumulant_second_derivative(family, s - h)) / (2 * h);
      const double third = cumulant_third_derivative(family, s);
      EXPECT_NEAR(third, numeric, 1e-8 * (1 + std::fabs(third))) << name(family) << ' ' << s;
    }
    EXPECT_TRUE(std::isfinite(cumulant_second_derivative(family, -800)));
  }
  EXPECT_EQ(cumulant_second_derivative(GlmFamily::logistic, 0), 0.25);
  EXPECT_EQ(cumulant_second_derivative(GlmFamily::logistic, 800), 0);
}

}  // namespace
}  // namespace nustream::inference
