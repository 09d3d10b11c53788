// Two-stage least squares, first-stage strength and Anderson–Rubin sets from sums with next to no noise.
#include "nustream/moments/instruments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "nustream/base/error.h"
#include "nustream/inference/least_squares.h"
#include "support/moments_world.h"

namespace nustream::tests {
namespace {

constexpr std::size_t count = 2000;

/// Rows with z = (1, instruments), x = strength · (sum of the instruments) + u, y = 2 + effect · x + u + noise.
/// Ordinary least squares of y on x is biased by the u that both contain.
record::RowBatch stream(std::size_t instruments, double strength, double effect, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  record::RowBatch rows;
  rows.dimension = instruments + 2;
  for (std::size_t i = 0; i < count; ++i) {
    double x = 0;
    rows.x.push_back(1);
    for (std::size_t j = 0; j < instruments; ++j) {
      rows.x.push_back(normal(random));
      x += strength * rows.x.back();
    }
    const double u = normal(random);
    x += u;
    rows.x.push_back(x);
    rows.y.push_back(2 + effect * x + u + 0.5 * normal(random));
    rows.next.push_back(i + 1);
  }
  return rows;
}

struct Fitted {
  moments::Settings settings;
  moments::Lane lane;
  std::vector<double> covariance;
  moments::Frame frame;
  moments::Estimate estimate;
};

/// A fit with wide radii, a second stage after half of the steps, a fine grid, and no noise on it.
Fitted fitted(const record::RowBatch& rows, std::size_t instruments) {
  moments::Settings settings = redesigned(linear_settings(instruments + 1, 100),
                                          moments::Design{{instruments + 1, 1}, moments::Spread::residuals, {}});
  settings.sigmas.assign(settings.sigmas.size(), NoiseMultiplier{0x1p-16});
  settings.stages = {{0, {20, 200, 400}}, {10, {20, 30, 60}}};
  settings.constant = 0;
  moments::Lane lane(settings, Position{0});
  std::vector<std::vector<std::int64_t>> zeros;
  std::vector<noise::GridNoise> noise;
  for (const moments::Block block : moments::noised_blocks(settings.mechanism.design)) {
    zeros.emplace_back(20 * moments::entries(settings.mechanism.design, block));
  }
  for (std::size_t b = 0; b < zeros.size(); ++b) noise.push_back({StepIndex{0}, zeros[b].size() / 20, zeros[b]});
  moments::Releases releases;
  lane.advance(slice(rows, 0, count), noise, releases);
  const moments::Design& design = settings.mechanism.design;
  std::vector<double> constant(design.shape.inputs);
  constant[0] = 1;
  const moments::Frame frame{design, moments::block_noise(design, settings.sigmas), {}, 100, std::move(constant)};
  const moments::StageNoise stage_noise(settings.mechanism.correlation, 1);
  std::vector<double> covariance = moments::stage_covariance(lane.sums(), stage_noise, lane.steps());
  moments::Estimate estimate = moments::estimate(lane.sums(), frame, covariance);
  return {settings, std::move(lane), std::move(covariance), frame, std::move(estimate)};
}

TEST(Instruments, GiveTwoStageLeastSquares) {
  std::mt19937_64 random(1);
  for (const std::size_t instruments : {1U, 3U}) {
    const record::RowBatch rows = stream(instruments, 0.4, 1.5, random);
    const Fitted f = fitted(rows, instruments);
    const auto found = moments::structural(f.lane.sums(), f.frame, f.covariance, f.estimate, 1, f.lane.steps());
    const auto expected =
        inference::two_stage_least_squares({instruments + 2, rows.x, rows.y}, instruments + 1, 1).theta;
    ASSERT_TRUE(found);
    ASSERT_EQ(found->beta.size(), expected.size());
    for (std::size_t j = 0; j < expected.size(); ++j) EXPECT_NEAR(found->beta[j], expected[j], 1e-5);
    ASSERT_EQ(found->effective_f.size(), 1U);
    // Each instrument adds strength² · n to qF, because the residuals' variance is 1.
    EXPECT_NEAR(found->effective_f[0], 0.16 * count, 0.15 * 0.16 * count);
  }
}

// What a new epoch begins about: its structural form is what was released, whatever the rows' second moments are.
TEST(Instruments, AReducedFormIsThatOfItsStructuralOne) {
  const moments::Shape shape{4, 2};
  const std::vector<double> beta{0.5, -1, 2};  // of one control and two regressors
  const std::vector<double> first{1, 2, 3, 4, -1, 0.5, 2, -3};
  std::vector<double> parameters = beta;
  parameters.insert(parameters.end(), first.begin(), first.end());
  const std::vector<double> reduced = moments::reduced_form(shape, 1, parameters);
  ASSERT_EQ(reduced.size(), shape.coefficients());
  for (std::size_t j = 0; j < first.size(); ++j) EXPECT_EQ(reduced[j], first[j]);
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_DOUBLE_EQ(reduced[8 + j], (j == 0 ? 0.5 : 0) - first[j] + 2 * first[4 + j]);
  }
  parameters.pop_back();
  EXPECT_THROW(static_cast<void>(moments::reduced_form(shape, 1, parameters)), InvalidParameter);
  EXPECT_THROW(static_cast<void>(moments::reduced_form(shape, 3, parameters)), InvalidParameter);
}

/// The classic set for one instrument: all β for which the coefficient of z in y − xβ is within z·σ(β)/√(z'z), z the
/// normal quantile.
TEST(AndersonRubin, OfOneInstrumentIsTheClassicInterval) {
  std::mt19937_64 random(2);
  const record::RowBatch rows = stream(1, 0.4, 1.5, random);
  const Fitted f = fitted(rows, 1);
  const auto found =
      moments::anderson_rubin(f.lane.sums(), f.frame, f.covariance, f.estimate, 1, f.lane.steps(), .95);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->kind, moments::AndersonRubinSet::Kind::interval);
  const auto t_of = [&](double beta) {
    std::vector<double> z;
    std::vector<double> y;
    for (std::size_t i = 0; i < count; ++i) {
      z.insert(z.end(), {1, rows.x[3 * i + 1]});
      y.push_back(rows.y[i] - beta * rows.x[3 * i + 2]);
    }
    const std::vector<double> theta = inference::ordinary_least_squares({2, z, y}).theta;
    double residual = 0;
    double mean = 0;
    double square = 0;
    for (std::size_t i = 0; i < count; ++i) {
      residual += std::pow(y[i] - theta[0] - theta[1] * z[2 * i + 1], 2) / count;
      mean += z[2 * i + 1] / count;
      square += z[2 * i + 1] * z[2 * i + 1] / count;
    }
    return theta[1] / std::sqrt(residual / (count * (square - mean * mean)));
  };
  // Only the residuals of the second half tell of the variance, so its root is known within 3%.
  EXPECT_NEAR(std::fabs(t_of(found->lower)), 1.96, .1);
  EXPECT_NEAR(std::fabs(t_of(found->upper)), 1.96, .1);
  EXPECT_LT(found->lower, 1.5);
  EXPECT_GT(found->upper, 1.5);
}

TEST(AndersonRubin, OfNoInstrumentAtAllIsUnbounded) {
  std::mt19937_64 random(3);
  int unbounded = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const Fitted f = fitted(stream(1, 0, 1.5, random), 1);
    const auto found =
        moments::anderson_rubin(f.lane.sums(), f.frame, f.covariance, f.estimate, 1, f.lane.steps(), .95);
    ASSERT_TRUE(found);
    unbounded += found->kind != moments::AndersonRubinSet::Kind::interval ? 1 : 0;
    const auto strength = moments::structural(f.lane.sums(), f.frame, f.covariance, f.estimate, 1, f.lane.steps());
    ASSERT_TRUE(strength);
    EXPECT_LT(strength->effective_f.at(0), 16);
  }
  EXPECT_GT(unbounded, 14);
}

#ifdef __SANITIZE_ADDRESS__  // which takes ten times as long
constexpr int streams_each = 40;
#else
constexpr int streams_each = 400;
#endif

// The coverage does not depend on the strength. With 400 streams it has a standard error of .011 about .95; the bound
// is 3.7 standard errors whatever their number.
TEST(AndersonRubin, CoversTheEffectWhateverTheInstrumentsAreWorth) {
  std::mt19937_64 random(4);
  for (const double strength : {0.0, 0.03, 0.5}) {
    int covered = 0;
    for (int trial = 0; trial < streams_each; ++trial) {
      const Fitted f = fitted(stream(2, strength, 1.5, random), 2);
      const auto found =
          moments::anderson_rubin(f.lane.sums(), f.frame, f.covariance, f.estimate, 1, f.lane.steps(), .95);
      ASSERT_TRUE(found);
      using Kind = moments::AndersonRubinSet::Kind;
      const bool between = found->lower <= 1.5 && 1.5 <= found->upper;
      covered += found->kind == Kind::everything || (found->kind == Kind::interval && between) ||
                         (found->kind == Kind::outside && !(found->lower < 1.5 && 1.5 < found->upper))
                     ? 1
                     : 0;
    }
    EXPECT_NEAR(covered / static_cast<double>(streams_each), .95, .8 / std::sqrt(streams_each)) << strength;
  }
}

TEST(Instruments, AreRefusedWhereThereAreNone) {
  std::mt19937_64 random(5);
  const Fitted f = fitted(stream(1, 0.4, 1.5, random), 1);
  EXPECT_THROW(
      static_cast<void>(moments::structural(f.lane.sums(), f.frame, f.covariance, f.estimate, 2, f.lane.steps())),
      InvalidParameter);
  EXPECT_THROW(static_cast<void>(
                   moments::anderson_rubin(f.lane.sums(), f.frame, f.covariance, f.estimate, 1, f.lane.steps(), 1)),
               InvalidParameter);
}

}  // namespace
}  // namespace nustream::tests
