// Two-stage models whose rows are public (IV paper, Algorithm 3): the first stage is plain descent, and only a target
// may be private. The paper offers the same for private rows (Lemma F.1); the last test shows why this library does
// not.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/lane_stages.h"

namespace nustream::tests {
namespace {

/// Every iterate of a lane without noise.
std::vector<std::vector<double>> path_of(const lane::Settings& settings, const record::RowBatch& rows) {
  const auto grids = grids_for(settings);
  lane::Lane lane(settings, grids, Position{0});
  const std::size_t steps = rows.count() / settings.minibatch;
  std::vector<std::vector<std::int64_t>> silence;
  std::vector<noise::GridNoise> noise;
  for (const lane::Stage& stage : lane::stages(settings)) silence.emplace_back(steps * stage.dimension);
  const auto stages = lane::stages(settings);
  for (std::size_t i = 0; i < stages.size(); ++i) noise.push_back({StepIndex{0}, stages[i].dimension, silence[i]});
  lane::Releases releases;
  lane.advance(slice(rows, 0, rows.count()), noise, releases);
  std::vector<std::vector<double>> path;
  for (std::size_t i = 0; i < releases.size(); ++i)
    path.emplace_back(releases[i].theta.begin(), releases[i].theta.end());
  return path;
}

lane::Settings one_regressor(std::uint64_t minibatch) {
  lane::Settings settings = public_two_stage_settings(1, 0);
  settings.minibatch = minibatch;
  settings.release_every = 1;
  return settings;
}

TEST(PublicRows, TheFirstStageIsPlainDescent) {
  const lane::Settings settings = one_regressor(3);
  const auto world = staged_world(settings, 40, 5, 0);
  ASSERT_EQ(lane::stages(settings).size(), 1U);
  const auto path = path_of(settings, world.rows);
  std::vector<double> first(2);
  for (std::size_t t = 0; t < 40; ++t) {
    double sum[2] = {0, 0};
    for (std::size_t i = 3 * t; i < 3 * t + 3; ++i) {
      const double* const row = world.rows.x.data() + 3 * i;
      const double residual = first[0] * row[0] + first[1] * row[1] - row[2];
      sum[0] += residual * row[0];
      sum[1] += residual * row[1];
    }
    for (std::size_t j = 0; j < 2; ++j) first[j] -= 0.03 * (sum[j] / 3 + 0.01 * first[j]);
    // Rows of length 20 make the descent diverge, so the tolerance is relative to the iterate's size.
    for (std::size_t j = 0; j < 2; ++j) ASSERT_NEAR(path[t][1 + j], first[j], 1e-12 * (1 + std::fabs(first[j]))) << t;
  }
}

record::RowBatch strong_instruments() {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  record::RowBatch table;
  table.dimension = 3;
  for (std::size_t i = 0; i < 1000; ++i) {
    const double z[] = {normal(random), normal(random)};
    const double x = 0.7 * z[0] + 0.4 * z[1] + normal(random);
    table.x.insert(table.x.end(), {z[0], z[1], x});
    table.y.push_back(0.5 * x + normal(random));
    table.next.push_back(i + 1);
  }
  return table;
}

// The first stage's Θ is a function of public rows: neither a target nor its absence may show in Θ.
TEST(PublicRows, NoTargetMovesTheFirstStage) {
  const lane::Settings settings = one_regressor(2);
  record::RowBatch rows = strong_instruments();
  const auto path = path_of(settings, rows);
  for (const double target : {std::nan(""), 1e300, -std::numeric_limits<double>::infinity()}) {
    rows.y[18] = target;
    const auto other = path_of(settings, rows);
    for (std::size_t t = 0; t < path.size(); ++t) {
      ASSERT_EQ(path[t][1], other[t][1]) << t;
      ASSERT_EQ(path[t][2], other[t][2]) << t;
    }
    EXPECT_NE(path.back()[0], other.back()[0]);
  }
}

/// The sums of clipped gradients of the second stage, step by step, over n = 1,000 rows that are all in every step. β
/// hardly moves, so that two tables are compared at the same β, as an adversary who sees β compares them.
std::vector<double> gradient_sums(const record::RowBatch& table, std::size_t steps) {
  constexpr double tiny = 1e-9;
  lane::Settings settings = one_regressor(table.count());
  settings.schedule = descent::Schedule{descent::Constant{StepSize{tiny}}};
  record::RowBatch rows;
  rows.dimension = table.dimension;
  for (std::size_t t = 0; t < steps; ++t) {
    rows.x.insert(rows.x.end(), table.x.begin(), table.x.end());
    rows.y.insert(rows.y.end(), table.y.begin(), table.y.end());
    for (std::size_t i = 0; i < table.count(); ++i) rows.next.push_back(rows.next.size() + 1);
  }
  std::vector<double> sums;
  double before = 0;
  for (const std::vector<double>& theta : path_of(settings, rows)) {
    sums.push_back((before - theta[0]) * static_cast<double>(table.count()) / tiny);
    before = theta[0];
  }
  return sums;
}

double largest_change(const record::RowBatch& one, const record::RowBatch& other) {
  const auto a = gradient_sums(one, 20);
  const auto b = gradient_sums(other, 20);
  double largest = 0;
  for (std::size_t t = 0; t < a.size(); ++t) largest = std::max(largest, std::fabs(a[t] - b[t]));
  return largest;
}

// One record may move the sum of clipped gradients by 2γ2 (γ2 = 1 here): the noise is scaled for that.
TEST(PublicRows, OneTargetMovesTheSumByAtMostTwiceTheClipNorm) {
  const record::RowBatch table = strong_instruments();
  for (const double target : {1e6, -1e6, std::nan("")}) {
    record::RowBatch neighbour = table;
    neighbour.y[3] = target;
    const double change = largest_change(table, neighbour);
    EXPECT_LE(change, 2 * (1 + 1e-5)) << target;
    EXPECT_GT(change, 0.01) << target;
  }
}

// Lemma F.1 claims the same bound for a record whose z and x are private. One such record moves Θ, to which no noise
// is added, and through Θ the clipped gradient of every other record: the sum moves by more than ten times the bound.
TEST(PublicRows, OneRowMovesTheSumFarBeyondIt) {
  const record::RowBatch table = strong_instruments();
  record::RowBatch neighbour = table;
  neighbour.x[9] = 30;
  neighbour.x[10] = -30;
  neighbour.x[11] = 100;
  EXPECT_GT(largest_change(table, neighbour), 10 * 2);
}

}  // namespace
}  // namespace nustream::tests
