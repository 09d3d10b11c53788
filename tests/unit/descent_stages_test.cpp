// Matrix parameters, two stages and second moments, each against the formula written out.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "nustream/base/error.h"
#include "support/lane_stages.h"

namespace nustream::tests {
namespace {

using Matrix = std::vector<std::vector<long double>>;

constexpr double tolerance = 1e-7;  // the grid's spacing is about 2^-32, and hundreds of records are truncated

/// clip(gradient, G) in long double.
std::vector<long double> clipped(std::vector<long double> gradient, long double norm_max) {
  long double squares = 0;
  for (const long double entry : gradient) squares += entry * entry;
  const long double factor = squares > 0 ? std::fmin(1.0L, norm_max / sqrtl(squares)) : 0;
  for (long double& entry : gradient) entry *= factor;
  return gradient;
}

void expect_near(std::span<const double> found, const std::vector<long double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t j = 0; j < found.size(); ++j) {
    EXPECT_NEAR(found[j], static_cast<double>(expected[j]), tolerance) << "entry " << j;
  }
}

TEST(MatrixLoop, TakesTheStepsOfTheMultinomialGradient) {
  for (const std::uint64_t minibatch : {1U, 3U}) {
    lane::Settings settings = multinomial_settings(4, 0.8);
    settings.minibatch = minibatch;
    settings.l2 = 0.05;
    const auto grids = grids_for(settings);
    const auto world = staged_world(settings, 120, 7, 1e8);
    lane::Lane lane(settings, grids, Position{0});
    lane::Releases releases;
    lane.advance(slice(world.rows, 0, world.rows.count()), world.noise_from(0), releases);

    std::vector<long double> theta(8);
    for (std::size_t t = 0; t < 120; ++t) {
      std::vector<long double> sum(8);
      for (std::size_t i = t * minibatch; i < (t + 1) * minibatch; ++i) {
        const std::vector<double> at(theta.begin(), theta.end());
        const auto g = model::gradient(settings.loss, at, std::span(world.rows.x).subspan(i * 4, 4), world.rows.y[i]);
        const auto part = clipped({g.begin(), g.end()}, 0.8L);
        for (std::size_t j = 0; j < 8; ++j) sum[j] += part[j];
      }
      for (std::size_t j = 0; j < 8; ++j) {
        const long double noisy = sum[j] + world.units[0][t * 8 + j] * static_cast<long double>(grids[0].spacing());
        theta[j] -= 0.05L * (noisy / minibatch + 0.05L * theta[j]);
      }
    }
    expect_near(lane.theta(), theta);
    EXPECT_GT(lane.clipped(), 0U);
  }
}

// A label that is no class adds no gradient, and its step is taken all the same.
TEST(MatrixLoop, StepsARecordWithoutALabel) {
  const lane::Settings settings = multinomial_settings(2);
  const auto grids = grids_for(settings);
  lane::Lane lane(settings, grids, Position{0});
  lane::Releases releases;
  const std::vector<std::int64_t> noise{1 << 20, 0, 0, -(1 << 21)};
  lane.advance(slice(rows_of(2, {1, 1}, {7}), 0, 1), {StepIndex{0}, 4, noise}, releases);
  EXPECT_EQ(lane.steps(), StepCount{1});
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_EQ(lane.theta()[j], -0.05 * grids[0].spacing() * static_cast<double>(noise[j]));
  }
}

TEST(TwoStageLoop, TakesTheStepsOfAlgorithm1) {
  for (const std::uint64_t minibatch : {1U, 4U}) {
    lane::Settings settings = two_stage_settings(2, 2);
    settings.minibatch = minibatch;
    settings.l2 = 0.02;
    const auto& shape = settings.first_stage->shape;
    const auto grids = grids_for(settings);
    const auto world = staged_world(settings, 150, 3, 1e8);
    lane::Lane lane(settings, grids, Position{0});
    lane::Releases releases;
    lane.advance(slice(world.rows, 0, world.rows.count()), world.noise_from(0), releases);

    const std::size_t q = shape.instruments;
    std::vector<long double> beta(shape.second_stage());
    std::vector<long double> first(shape.first_stage());
    for (std::size_t t = 0; t < 150; ++t) {
      std::vector<long double> sum(beta.size());
      std::vector<long double> first_sum(first.size());
      for (std::size_t i = t * minibatch; i < (t + 1) * minibatch; ++i) {
        const double* const z = world.rows.x.data() + i * shape.row();
        std::vector<long double> fitted{z[0], z[1]};  // the controls
        std::vector<long double> g1;
        for (std::size_t e = 0; e < 2; ++e) {
          long double prediction = 0;
          for (std::size_t j = 0; j < q; ++j) prediction += first[e * q + j] * z[j];
          fitted.push_back(prediction);
          for (std::size_t j = 0; j < q; ++j) g1.push_back((prediction - z[q + e]) * z[j]);
        }
        long double residual = -world.rows.y[i];
        for (std::size_t j = 0; j < 4; ++j) residual += beta[j] * fitted[j];
        std::vector<long double> g2;
        for (std::size_t j = 0; j < 4; ++j) g2.push_back(residual * fitted[j]);
        g1 = clipped(g1, 0.7L);
        g2 = clipped(g2, 1.0L);
        for (std::size_t j = 0; j < g1.size(); ++j) first_sum[j] += g1[j];
        for (std::size_t j = 0; j < g2.size(); ++j) sum[j] += g2[j];
      }
      for (std::size_t j = 0; j < beta.size(); ++j) {
        const long double z = world.units[0][t * beta.size() + j] * static_cast<long double>(grids[0].spacing());
        beta[j] -= 0.05L * ((sum[j] + z) / minibatch + 0.02L * beta[j]);
      }
      for (std::size_t j = 0; j < first.size(); ++j) {
        const long double z = world.units[1][t * first.size() + j] * static_cast<long double>(grids[1].spacing());
        first[j] -= 0.03L * ((first_sum[j] + z) / minibatch + 0.01L * first[j]);
      }
    }
    std::vector<long double> both = beta;
    both.insert(both.end(), first.begin(), first.end());
    expect_near(lane.theta(), both);
  }
}

TEST(TwoStageLoop, RefusesShapesThatCannotBe) {
  const auto grids = grids_for(two_stage_settings(2, 1));
  lane::Settings few = two_stage_settings(2, 1);
  few.first_stage->shape.instruments = 2;  // one instrument besides the control
  few.dimension = few.first_stage->shape.dimension();
  few.start.assign(few.dimension, 0.0);
  EXPECT_THROW(lane::Lane(few, grids, Position{0}), InvalidParameter);
  lane::Settings none = two_stage_settings(2, 1);
  none.first_stage->shape.endogenous = 0;
  none.dimension = none.first_stage->shape.dimension();
  none.start.assign(none.dimension, 0.0);
  EXPECT_THROW(lane::Lane(none, grids, Position{0}), InvalidParameter);
}

// A two-stage lane refuses a grid that clips beyond its own stage's norm.
TEST(TwoStageLoop, RefusesTheGridOfTheOtherStage) {
  const lane::Settings settings = two_stage_settings(1, 0, 1.0, 0.5);
  auto grids = grids_for(settings);
  std::swap(grids[0], grids[1]);
  EXPECT_THROW(lane::Lane(settings, grids, Position{0}), InvalidParameter);
}

lane::Settings with_moments(std::uint64_t from) {
  lane::Settings settings = settings_for(3, {}, 1.0, 0.02);
  settings.averaging = {descent::Averaging::Kind::tail, from, 0.5};
  settings.moments = lane::SecondMoments{ClipNorm{4}, ClipNorm{2}, from};
  return settings;
}

TEST(SecondMoments, AreTheMeansOfClippedMatricesAndTheirNoise) {
  constexpr std::size_t steps = 700;
  constexpr std::uint64_t from = 100;
  const lane::Settings settings = with_moments(from);
  const auto grids = grids_for(settings);
  const auto world = staged_world(settings, steps, 5, 1e8);
  lane::Lane lane(settings, grids, Position{0});
  lane::Releases releases;
  Matrix bread(3, std::vector<long double>(3));
  Matrix meat = bread;
  std::vector<double> theta(3);
  for (std::size_t t = 0; t < steps; ++t) {
    const std::span<const double> x = std::span(world.rows.x).subspan(t * 3, 3);
    long double residual = -world.rows.y[t];
    long double squares = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      residual += x[j] * theta[j];
      squares += static_cast<long double>(x[j]) * x[j];
    }
    const auto add = [&](Matrix& mean, long double factor, long double clip, std::size_t stage) {
      const long double scale = squares > 0 ? factor * std::fmin(1.0L, clip / (factor * squares)) : 0;
      std::size_t at = t * 6;
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = i; j < 3; ++j, ++at) {
          const long double noise = world.units[stage][at] * static_cast<long double>(grids[stage].spacing());
          mean[i][j] += (scale * x[i] * x[j] + (i == j ? noise : noise / sqrtl(2))) / (steps - from);
          mean[j][i] = mean[i][j];
        }
      }
    };
    if (t >= from) {
      add(bread, 1, 4, 1);
      add(meat, residual * residual, 2, 2);
    }
    releases.clear();
    lane.advance(slice(world.rows, t, t + 1), world.noise_from(t), releases);
    theta.assign(releases[0].theta.begin(), releases[0].theta.end());
  }
  const lane::Release last = releases[0];
  EXPECT_EQ(last.moment_steps, steps - from);
  for (const auto& [found, expected] : {std::pair{last.bread, bread}, std::pair{last.meat, meat}}) {
    const auto matrix = descent::symmetric_matrix(found, 3);
    for (std::size_t i = 0; i < 9; ++i) {
      EXPECT_NEAR(matrix[i], static_cast<double>(expected[i / 3][i % 3]), tolerance);
    }
  }
}

// ‖the released vector‖ = ‖the matrix‖, so clipping the vector bounds what one record can move.
TEST(SecondMoments, KeepTheLengthOfTheMatrix) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (std::size_t d = 1; d < 9; ++d) {
    std::vector<double> x(d);
    double squares = 0;
    for (double& entry : x) {
      entry = normal(random);
      squares += entry * entry;
    }
    std::vector<double> triangle(descent::triangle_size(d));
    descent::isometric_triangle(x, triangle);
    double length = 0;
    for (const double entry : triangle) length += entry * entry;
    EXPECT_NEAR(std::sqrt(length), squares, 1e-13 * squares);
  }
}

TEST(BatchMeans, AreTheMeansOfConsecutiveIterates) {
  lane::Settings settings = settings_for(2, {}, 1.0, 0.1);
  settings.averaging = {descent::Averaging::Kind::tail, 37, 0.5};
  settings.batching = descent::Batching{37, 3, 5};
  const auto world = staged_world(settings, 400, 2, 1e9);
  lane::Lane lane(settings, grids_for(settings), Position{0});
  lane::Releases releases;
  lane.advance(slice(world.rows, 0, 400), world.noise_from(0), releases);
  // 363 iterates make batches of lengths 5, 10, 20, 40, 80; four batches of 80 are whole.
  const lane::Release last = releases[399];
  ASSERT_EQ(last.batch_length, 80U);
  ASSERT_EQ(last.batch_means.size(), 8U);
  EXPECT_EQ(last.batches_through, StepCount{37 + 4 * 80});
  for (std::size_t batch = 0; batch < 4; ++batch) {
    for (std::size_t j = 0; j < 2; ++j) {
      double mean = 0;
      for (std::size_t n = 37 + batch * 80; n < 37 + (batch + 1) * 80; ++n) mean += releases[n].theta[j] / 80;
      EXPECT_NEAR(last.batch_means[batch * 2 + j], mean, 1e-12);
    }
  }
}

}  // namespace
}  // namespace nustream::tests
