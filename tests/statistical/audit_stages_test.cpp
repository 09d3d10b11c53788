// Audits of models of several stages: each clips and noises on its own, and the adversary sees all of them.
//
// Keys are the system's randomness, as in a real audit. Each bound is wrong with probability 1e-3, and is checked
// against the claim plus what one standard error moves it: eight of them, one run in 10⁴.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "audit/audit.h"
#include "audit/game.h"
#include "audit/stages.h"
#include "example_config.h"
#include "temporary_folder.h"

namespace nustream::audit {
namespace {

constexpr const char* instruments = R"([stream]
name = "instruments"
input = "rows.csv"
columns = ["w", "z", "v", "e", "y"]
header = false
[target]
column = "y"
[[features]]
column = "w"
[[instruments]]
column = "z"
[[instruments]]
column = "v"
[[endogenous]]
column = "e"
[descent]
step_size = 1e-3
clip_norm = 2.0
[first_stage]
step_size = 1e-3
{}
[privacy]
rho = 2
delta = 1e-6
[noise]
nu = 0.02
[release]
every = 1
)";

std::string two_stages(const char* first_stage) {
  return fmt::format(fmt::runtime(instruments), first_stage);
}

constexpr const char* with_moments = R"([stream]
name = "sandwich"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "a"
[[features]]
column = "b"
[descent]
step_size = 1e-3
clip_norm = 2.0
average = "tail"
average_from = 3
[privacy]
rho = 2
delta = 1e-6
[noise]
nu = 0.02
[release]
every = 1
[intervals]
kind = "sandwich"
second_moment_clip = 4.0
squared_residual_clip = 3.0
share = 0.5
)";

// A slope beyond the numbers: the lane clips to x's direction, and so does whoever plays against it.
TEST(Contribution, OfAnEndlessSlopeIsAsLongAsTheClipNorm) {
  const tests::TemporaryFolder folder;
  const lane::Settings poisson = config::read_config(folder.write("audit.toml", tests::example_config()),
                                                     {"model.loss=poisson", "descent.clip_norm=2"})
                                     .descent;
  for (const double theta : {1.0, 200.0, 500.0}) {  // exp of 4, 800 and 2000
    const Contribution added =
        contributions(poisson, Eigen::Vector3d(theta, theta, 0), std::vector<double>{3, 1, 0}, 0).at(0);
    EXPECT_NEAR(added.clipped.norm(), 2, 1e-12) << theta;
    EXPECT_NEAR(added.clipped(0), 3 * added.clipped(1), 1e-12) << theta;
    EXPECT_EQ(added.clipped(2), 0) << theta;
    EXPECT_GE(added.length, 1) << theta;
  }
}

// Steps of the lane itself are what noisy_sums takes apart: over noise that is known, what is left is what
// contributions says, of every stage.
TEST(Contribution, IsWhatTheLaneAddsInEveryStage) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (const std::string& text :
       {two_stages("clip_norm = 0.7\nl2 = 0.3"),
        two_stages("clip_norm = 0.7\nstrength_share = 0.2\nstrength_clip = 2.0"), std::string(with_moments)}) {
    const tests::TemporaryFolder folder;
    const std::vector<std::string> changes =
        text == with_moments ? std::vector<std::string>{} : std::vector<std::string>{"model.l2=0.2"};
    config::Config config = config::read_config(folder.write("audit.toml", text), changes);
    if (config.descent.moments) config.descent.moments->from = 0;
    for (double& entry : config.descent.start) entry = 0.3 * normal(random);
    const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
    lane::Lane lane(config.descent, mechanism.grids, Position{0});
    const Eigen::Index triangle =
        config.descent.moments ? static_cast<Eigen::Index>(mechanism.stages.back().dimension) : 0;
    Seen before{
        start_of(config.descent), Eigen::VectorXd::Zero(triangle),
        config.descent.moments && config.descent.moments->meat ? Eigen::VectorXd::Zero(triangle) : Eigen::VectorXd()};
    for (std::uint64_t t = 0; t < 12; ++t) {
      record::RowBatch row;
      row.dimension = lane::row_entries(config.descent);
      const double length = t % 3 == 0 ? 0.1 : 2;
      for (std::size_t j = 0; j < row.dimension; ++j) row.x.push_back(length * normal(random));
      row.y.push_back(length * normal(random));
      row.next.push_back(t + 1);
      std::vector<std::vector<std::int64_t>> units;
      std::vector<noise::GridNoise> noise;
      for (const config::StageNoise& stage : mechanism.stages) {
        std::vector<std::int64_t>& own = units.emplace_back(stage.dimension);
        for (std::int64_t& unit : own) unit = static_cast<std::int64_t>(random() % 2'000'000'000) - 1'000'000'000;
      }
      for (const auto& own : units) noise.push_back({StepIndex{t}, own.size(), own});
      lane::Releases releases;
      lane.advance(record::slice(row, 0, 1), noise, releases);
      const auto copied = [](std::span<const double> values) {
        return Eigen::VectorXd(
            Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size())));
      };
      const Seen after{copied(releases[0].theta), copied(releases[0].bread), copied(releases[0].meat)};
      const std::vector<Contribution> added = contributions(config.descent, before.theta, row.x, row.y.front());
      const std::vector<Eigen::VectorXd> sums = noisy_sums(config.descent, StepIndex{t}, before, after);
      ASSERT_EQ(added.size(), mechanism.stages.size());
      ASSERT_EQ(sums.size(), mechanism.stages.size());
      for (std::size_t i = 0; i < sums.size(); ++i) {
        for (Eigen::Index j = 0; j < sums[i].size(); ++j) {
          const double drawn = mechanism.grids[i].to_gradient(units[i][static_cast<std::size_t>(j)]);
          EXPECT_NEAR(sums[i](j) - drawn, added[i].clipped(j), 1e-7) << mechanism.stages[i].name << ' ' << t;
        }
      }
      before = after;
    }
  }
}

TEST(Audit, PlaysModelsOfSeveralStages) {
  struct Model {
    const char* name;
    std::string text;
    std::vector<std::string> overrides;
  };
  const std::vector<Model> models{
      {"two stages", two_stages("clip_norm = 0.7"), {}},
      {"replace-one", two_stages("clip_norm = 0.7"), {"privacy.adjacency=replace-one"}},
      {"strength", two_stages("clip_norm = 0.7\nstrength_share = 0.4\nstrength_clip = 2.0"), {}},
      {"public", two_stages("private = false"), {"privacy.protects=target"}},
      {"public, replace-one",
       two_stages("private = false"),
       {"privacy.protects=target", "privacy.adjacency=replace-one"}},
      {"targets", two_stages("clip_norm = 0.7"), {"privacy.protects=target"}},
      {"halved", two_stages("clip_norm = 0.7"), {"privacy.calibration=proposition-3.1"}},
      {"sandwich", with_moments, {}}};
  for (const Model& model : models) {
    const tests::TemporaryFolder folder;
    const config::Config config = config::read_config(folder.write("audit.toml", model.text), model.overrides);
    Options options;
    options.runs = 8'000;
    const Finding finding = audit(config, config::Purpose::stream, options);
    EXPECT_LE(finding.mu_bound, finding.mu * 1.02) << model.name;
    EXPECT_GE(finding.mu_bound, 0.87 * finding.mu) << model.name;
    EXPECT_NEAR(finding.mu_of_filter, finding.mu, 1e-6 * finding.mu) << model.name;
    EXPECT_EQ(finding.shorter_share, 0) << model.name;
  }
}

// Each stage by itself: noise a tenth too small in one of them shows.
TEST(Audit, CatchesNoiseThatIsTooSmallInOneStage) {
  const tests::TemporaryFolder folder;
  const config::Config config = config::read_config(
      folder.write("audit.toml", two_stages("clip_norm = 0.7\nstrength_share = 0.4\nstrength_clip = 2.0")), {});
  const config::Mechanism claimed = config::make_mechanism(config, privacy::Participation::once());
  for (std::size_t stage = 0; stage < claimed.stages.size(); ++stage) {
    config::Mechanism broken = claimed;
    const config::StageNoise& own = claimed.stages[stage];
    broken.grids[stage] = noise::Grid(NoiseStddev{own.stddev.value() * 0.5}, noise::largest_stddev(own.correlation),
                                      lane::stages(config.descent)[stage].clip);
    Game game(config, broken, {8, {0}});
    const double mu = std::sqrt(2 * claimed.spend.after(StepCount{8}).value());
    Counts counts{6'000, 0, 0};
    for (std::uint64_t run = 0; run < counts.runs; ++run) {
      noise::KeyBytes key{};
      for (std::size_t i = 0; i < 8; ++i) key[i] = static_cast<std::uint8_t>(run >> (8 * i));
      key[31] = static_cast<std::uint8_t>(3 + stage);
      if (game.play(World::without, key) > mu / 2) ++counts.without;
      key[30] = 1;
      if (game.play(World::with, key) > mu / 2) ++counts.with;
    }
    EXPECT_GT(mu_lower_bound(counts, {}), mu) << own.name;
  }
}

}  // namespace
}  // namespace nustream::audit
