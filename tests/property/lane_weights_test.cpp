// Records that count more or less than one: a weight multiplies the gradient of its record before that is clipped.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "nustream/descent/second_moments.h"
#include "support/lane_stages.h"

namespace nustream::tests {
namespace {

/// Settings of each kind of loop: losses of one predictor, of several, and two stages.
std::vector<lane::Settings> all_loops(double clip) {
  std::vector<lane::Settings> all;
  for (const model::Loss::Kind kind : model::single_predictor_kinds()) {
    if (kind == model::Loss::Kind::mean) continue;  // config allows no weights for a mean
    all.push_back(settings_for(5, {.kind = kind, .threshold = 0.7}, clip));
  }
  all.push_back(multinomial_settings(4, clip));
  all.push_back(two_stage_settings(1, 1, clip, clip));
  all.push_back(public_two_stage_settings(1, 1, clip));
  return all;
}

/// A start away from zero, so that predictions are not 0.
std::vector<double> somewhere(std::size_t dimension) {
  std::vector<double> start(dimension);
  for (std::size_t j = 0; j < dimension; ++j) start[j] = 0.1 * static_cast<double>(j % 5) - 0.15;
  return start;
}

std::vector<double> after_one_step(lane::Settings settings, const record::RowBatch& rows, StagedWorld noise) {
  settings.minibatch = rows.count();
  settings.start = somewhere(settings.dimension);
  lane::Lane lane(settings, grids_for(settings, 1), Position{0});
  lane::Releases releases;
  lane.advance(slice(rows, 0, rows.count()), noise.noise_from(0), releases);
  return {lane.theta().begin(), lane.theta().end()};
}

record::RowBatch picked(const record::RowBatch& rows, const std::vector<std::size_t>& at) {
  record::RowBatch result;
  result.dimension = rows.dimension;
  for (const std::size_t i : at) {
    const auto begin = rows.x.begin() + static_cast<std::ptrdiff_t>(i * rows.dimension);
    result.x.insert(result.x.end(), begin, begin + static_cast<std::ptrdiff_t>(rows.dimension));
    result.y.push_back(rows.y[i]);
    result.next.push_back(result.next.size() + 1);
  }
  return result;
}

double distance(const std::vector<double>& one, const std::vector<double>& other) {
  double squares = 0;
  for (std::size_t j = 0; j < one.size(); ++j) squares += (one[j] - other[j]) * (one[j] - other[j]);
  return std::sqrt(squares);
}

// Where nothing is clipped, three records of one row equal one record of weight 3, and a record of weight 0 equals
// none.
TEST(Weights, CountARecordAsSoManyOfIt) {
  for (const lane::Settings& settings : all_loops(1e4)) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const StagedWorld world = staged_world(settings, 8, seed, 0);
      record::RowBatch rows = picked(world.rows, {2, 3, 4, 5, 6, 7});
      // A class, a count or a number, as every loss accepts it.
      for (double& y : rows.y) y = std::fabs(std::trunc(y));
      for (double& y : rows.y) y = std::min(y, settings.loss.kind == model::Loss::Kind::logistic ? 1.0 : 2.0);
      record::RowBatch weighted = rows;
      weighted.weights = {3, 1, 1, 0, 0, 1};
      const record::RowBatch repeated = picked(rows, {0, 0, 0, 1, 2, 5});
      const double apart =
          distance(after_one_step(settings, weighted, world), after_one_step(settings, repeated, world));
      EXPECT_LT(apart, 1e-6) << model::name(settings.loss.kind) << ", seed " << seed;
      const double moved = distance(after_one_step(settings, rows, world), after_one_step(settings, repeated, world));
      EXPECT_TRUE(moved > 1e-4 || seed > 1) << model::name(settings.loss.kind);
    }
  }
}

// A weight, however large it is, widens no bound: each stage moves by at most its step size times its clip norm.
TEST(Weights, WidenNothing) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const lane::Settings& settings : all_loops(0.5)) {
    if (settings.first_stage && !settings.first_stage->clip) continue;  // its first stage reads public rows
    const double stages = settings.first_stage ? 2 : 1;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      const StagedWorld world = staged_world(settings, 1, seed, 0);
      record::RowBatch rows = world.rows;
      rows.y[0] = seed % 2 == 0 ? 1 : 0;
      for (const double weight : {0.0, 0.3, 1.0, 1e6, 1e300, infinity}) {
        rows.weights = {weight};
        const std::vector<double> moved = after_one_step(settings, rows, world);
        EXPECT_LE(distance(moved, somewhere(settings.dimension)), stages * 0.05 * 0.5 + 0.03 * 0.01 + 1e-12)
            << model::name(settings.loss.kind) << ", weight " << weight;
      }
    }
  }
}

// The sandwich is made of weighted parts: the gradient as it is weighted, and the weighted curvature.
TEST(Weights, AreInTheSecondMoments) {
  const noise::Grid grid(NoiseStddev{1}, 1.0, ClipNorm{1e3});
  const std::vector<double> x{1, 2, 3, -1};
  const std::vector<double> y{0.5, 2};
  const std::vector<double> theta{0.25, -0.5};
  const std::vector<double> weights{2, 0.5};
  const std::vector<std::int64_t> none(descent::triangle_size(2));
  descent::SecondMoments moments(grid, &grid, 2, 2, 0);
  moments.step(x, y, theta, weights, none, none, StepCount{0});
  // Residuals −1.25 and −0.75.
  const double root = std::sqrt(2.0);
  const std::vector<double> bread{(2 * 1 + 0.5 * 9) / 2, root * (2 * 2 - 0.5 * 3) / 2, (2 * 4 + 0.5 * 1) / 2};
  const double a = 4 * 1.5625;
  const double b = 0.25 * 0.5625;
  const std::vector<double> meat{(a * 1 + b * 9) / 2, root * (a * 2 - b * 3) / 2, (a * 4 + b * 1) / 2};
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(moments.bread()[j], bread[j], 1e-5);
    EXPECT_NEAR(moments.meat()[j], meat[j], 1e-5);
  }
}

}  // namespace
}  // namespace nustream::tests
