// The share of clipped gradients that releases tell: unbiased, with the noise that they and `plan` state.
//
// Keys are fixed, so each test has one outcome. Its bounds were set so that another set of keys would fail in about
// one of ten thousand.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "cli/plan_parts.h"
#include "config_reading.h"
#include "engine/noise_feed.h"
#include "engine/release_encoder.h"
#include "journal/state_record.h"
#include "nustream/descent/clipped_count.h"
#include "nustream/lane/lane.h"
#include "nustream/noise/dense.h"
#include "publish/release_json.h"

namespace nustream::publish {
namespace {

constexpr std::uint64_t steps = 60;
constexpr std::uint64_t every = 10;

config::Config counting(std::vector<std::string> overrides) {
  overrides.insert(overrides.end(), {"privacy.clipped_share=0.2", "privacy.rho=2", "release.every=10"});
  return config::read(overrides);
}

/// Every fourth record has a gradient beyond any clip norm, the others have none.
record::RowBatch quarter_clipped(const config::Config& config) {
  record::RowBatch rows;
  rows.dimension = config.schema.dimension();
  for (std::size_t i = 0; i < steps * config.descent.minibatch; ++i) {
    const bool is_long = i % 4 == 0;
    for (std::size_t j = 0; j < rows.dimension; ++j) rows.x.push_back(is_long ? 1 : 0);
    rows.y.push_back(is_long ? 1e9 : 0);
    rows.next.push_back(i + 1);
  }
  return rows;
}

/// Under the key: what each release's line says.
std::vector<ClippedShare> shares_of(const config::Config& config, const config::Mechanism& mechanism,
                                    const record::RowBatch& rows, std::uint16_t key) {
  noise::KeyBytes bytes{};
  bytes[0] = static_cast<std::uint8_t>(key);
  bytes[1] = static_cast<std::uint8_t>(key >> 8U);
  const auto first = journal::first_checkpoints(bytes, LaneId{0}, EpochId{0}, mechanism.stages.size());
  engine::NoiseFeed feed(mechanism, first, StepIndex{0}, std::pmr::get_default_resource(), {}, StepCount{steps});
  lane::Lane lane(config.descent, mechanism.grids, Position{0});
  lane::Releases releases;
  const std::uint64_t m = config.descent.minibatch;
  for (std::uint64_t taken = 0; taken < steps;) {
    const auto noise = feed.take(static_cast<std::size_t>(steps - taken));
    const std::uint64_t count = noise.front().units.size() / noise.front().dimension;
    lane.advance(record::slice(rows, taken * m, (taken + count) * m), noise, releases);
    taken += count;
  }
  ReleaseEncoder encoder = engine::release_encoder(config, mechanism, {LaneId{0}, EpochId{0}, "", true});
  std::vector<ClippedShare> shares;
  for (std::size_t r = 0; r < releases.size(); ++r) {
    std::string line;
    encoder.append(releases[r], "cadence", line);
    shares.push_back(read_release(line)->status.clipped.value());
  }
  return shares;
}

/// Under `keys` keys: the mean of share − ¼ in standard errors, and the mean of its square in stated variances.
void expect_quarter(const std::vector<std::string>& overrides) {
  const config::Config config = counting(overrides);
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  const record::RowBatch rows = quarter_clipped(config);
  constexpr std::uint16_t keys = 2000;
  std::vector<double> sums(steps / every);
  std::vector<double> squares(steps / every);
  for (std::uint16_t key = 0; key < keys; ++key) {
    const std::vector<ClippedShare> shares = shares_of(config, mechanism, rows, key);
    ASSERT_EQ(shares.size(), steps / every);
    for (std::size_t r = 0; r < shares.size(); ++r) {
      const std::uint64_t since = descent::clipped_since(StepCount{(r + 1) * every}, every).value();
      ASSERT_EQ(shares[r].since, since);
      const auto m = config.descent.minibatch;
      std::uint64_t clipped = 0;
      for (std::uint64_t i = since * m; i < (r + 1) * every * m; ++i) clipped += i % 4 == 0 ? 1 : 0;
      const double truth = static_cast<double>(clipped) / static_cast<double>(((r + 1) * every - since) * m);
      const double standard = (shares[r].share - truth) / shares[r].stddev;
      sums[r] += standard;
      squares[r] += standard * standard;
    }
  }
  for (std::size_t r = 0; r < sums.size(); ++r) {
    EXPECT_LT(std::abs(sums[r]) / std::sqrt(keys), 4.5) << r;
    EXPECT_LT(std::abs(squares[r] - keys) / std::sqrt(2.0 * keys), 4.5) << r;
  }
}

TEST(ClippedShareStatistics, IsUnbiasedWithTheNoiseThatItStates) {
  expect_quarter({});
  expect_quarter({"descent.minibatch=3", "privacy.adjacency=replace-one"});
  expect_quarter({"noise.correlation=independent"});
  expect_quarter({"noise.correlation=damped-anti-pgd", "noise.nu=0.1"});
}

// σΔ times the norm of what the rows of B in the stretch add up to, over its number of records.
TEST(ClippedShareStatistics, StatesTheDeviationThatTheRowsOfBGive) {
  for (const std::vector<std::string>& noise : {std::vector<std::string>{},
                                                {"noise.correlation=independent"},
                                                {"noise.correlation=damped-anti-pgd", "noise.nu=0.1"},
                                                {"noise.correlation=nu", "noise.nu=0.02", "noise.horizon=60"},
                                                {"descent.minibatch=4"}}) {
    const config::Config config = counting(noise);
    const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
    const config::CalibratedStage& stage = mechanism.stages.back();
    const std::vector<double> b = noise::dense_noise_matrix(stage.correlation, steps);
    const std::size_t width = b.size() / steps;
    const ClippedDesign design(stage.correlation, stage.stddev, config.descent.minibatch);
    for (std::uint64_t t = 1; t <= steps; ++t) {
      const std::uint64_t since = descent::clipped_since(StepCount{t}, every).value();
      double squares = 0;
      for (std::size_t j = 0; j < width; ++j) {
        double sum = 0;
        for (std::uint64_t i = since; i < t; ++i) sum += b[i * width + j];
        squares += sum * sum;
      }
      const double expected =
          stage.stddev.value() * std::sqrt(squares) / static_cast<double>((t - since) * config.descent.minibatch);
      EXPECT_NEAR(design.stddev(StepCount{since}, StepCount{t}), expected, 1e-9 * expected) << t;
    }
    const auto plan = cli::clipped_plan(config, mechanism, StepCount{steps});
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->rho, stage.rho);
    EXPECT_EQ(plan->rows.back().steps, StepCount{steps});
    EXPECT_EQ(plan->rows.back().stddev, design.stddev(plan->rows.back().since, StepCount{steps}));
  }
}

// Of streams with exactly the share that counts as much, few are called large; of those far above it, all.
TEST(ClippedShareStatistics, CallsAShareLargeAsOftenAsItSays) {
  const config::Config config = counting({});
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  const config::CalibratedStage& stage = mechanism.stages.back();
  const ClippedDesign design(stage.correlation, stage.stddev, 1);
  const double stddev = design.stddev(StepCount{0}, StepCount{every});
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  int alarms = 0;
  constexpr int draws = 20'000;
  for (int i = 0; i < draws; ++i) {
    lane::Release release{StepCount{every}, Position{every}, {}, {}};
    release.clipped = lane::ClippedStretch{StepCount{0}, every * (large_clipped_share + stddev * normal(random))};
    alarms += design.share_of(release)->is_large ? 1 : 0;
  }
  const double spread = std::sqrt(draws * large_clipped_false_alarm * (1 - large_clipped_false_alarm));
  EXPECT_NEAR(alarms, draws * large_clipped_false_alarm, 4 * spread);
  lane::Release release{StepCount{every}, Position{every}, {}, {}};
  release.clipped = lane::ClippedStretch{StepCount{0}, every * (large_clipped_share + 4 * stddev)};
  EXPECT_TRUE(design.share_of(release)->is_large);
  EXPECT_NE(in_words(*design.share_of(release)).find("clip_norm"), std::string::npos);
}

TEST(ClippedShareStatistics, IsNotInALineThatCountsNothing) {
  const config::Config config = config::read({"release.every=10"});
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  EXPECT_FALSE(cli::clipped_plan(config, mechanism, StepCount{steps}));
  ReleaseEncoder encoder = engine::release_encoder(config, mechanism, {LaneId{0}, EpochId{0}, "", true});
  const std::vector<double> theta(config.descent.dimension);
  std::string line;
  encoder.append({StepCount{1}, Position{1}, theta, {}}, "end", line);
  EXPECT_EQ(line.find("clipped"), std::string::npos);
  EXPECT_FALSE(read_release(line)->status.clipped);
}

}  // namespace
}  // namespace nustream::publish
