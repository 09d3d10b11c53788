// Audits of models of several stages: each stage clips and adds noise on its own, and the adversary sees all of them.
//
// Keys are the system's randomness, as in a real audit. Each bound is wrong with probability 1e-3. It is compared
// with the claim plus what one standard error moves it, which makes a false alarm some 1e-5. A bound on μ has a
// standard error of some .03 at 5,000 runs, whatever μ is, and lies 3.1 of them below μ. The smaller a claim is, the
// more runs its bound therefore needs to come near it: the runs are such that every lower limit lies 4 standard
// errors or more below what is expected. There are three dozen bounds, so one run in some thousands fails by chance.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "audit/audit.h"
#include "audit/stages.h"
#include "audit/statistic.h"
#include "error.h"
#include "example_config.h"
#include "expect_failure.h"
#include "temporary_folder.h"

namespace nustream::audit {
namespace {

// Where a slope is infinite, the lane clips the gradient to the direction of x, and the adversary has to do the same.
TEST(Contribution, OfAnEndlessSlopeIsAsLongAsTheClipNorm) {
  const tests::TemporaryFolder folder;
  const lane::Settings poisson = config::read_config(folder.write("audit.toml", tests::example_config()),
                                                     {"model.loss=poisson", "descent.clip_norm=2"})
                                     .descent;
  for (const double theta : {1.0, 200.0, 500.0}) {  // the exponentials of 4, 800 and 2000
    const Contribution added =
        contributions(poisson, Eigen::Vector3d(theta, theta, 0), std::vector<double>{3, 1, 0}, 0).at(0);
    EXPECT_NEAR(added.clipped.norm(), 2, 1e-12) << theta;
    EXPECT_NEAR(added.clipped(0), 3 * added.clipped(1), 1e-12) << theta;
    EXPECT_EQ(added.clipped(2), 0) << theta;
    EXPECT_GE(added.length, 1) << theta;
  }
}

/// m records, which are short in every third step. Where they have weights, these are from 0 to 2.
record::RowBatch minibatch_of(std::mt19937_64& random, const lane::Settings& settings, std::uint64_t step,
                              bool are_weighted) {
  std::normal_distribution<double> normal(0, step % 3 == 0 ? 0.1 : 2);
  record::RowBatch rows;
  rows.dimension = lane::row_entries(settings);
  for (std::uint64_t i = 0; i < settings.minibatch; ++i) {
    for (std::size_t j = 0; j < rows.dimension; ++j) rows.x.push_back(normal(random));
    rows.y.push_back(normal(random));
    rows.next.push_back(step * settings.minibatch + i + 1);
    if (are_weighted) rows.weights.push_back(static_cast<double>(random() % 5) / 2);
  }
  return rows;
}

/// What a minibatch adds to each stage's sum.
std::vector<Eigen::VectorXd> added_by(const lane::Settings& settings, const Eigen::VectorXd& theta,
                                      const record::RowBatch& rows) {
  std::vector<Eigen::VectorXd> sums;
  for (std::size_t i = 0; i < rows.y.size(); ++i) {
    const auto added = contributions(settings, theta, std::span(rows.x).subspan(i * rows.dimension, rows.dimension),
                                     rows.y[i], rows.weights.empty() ? 1 : rows.weights[i]);
    if (sums.empty()) {
      for (const Contribution& each : added) sums.push_back(Eigen::VectorXd::Zero(each.clipped.size()));
    }
    for (std::size_t stage = 0; stage < added.size(); ++stage) sums[stage] += added[stage].clipped;
  }
  return sums;
}

// noisy_sums() takes the lane's own steps apart: where the noise is known, what is left without it has to be what
// contributions() says, for every stage.
void expect_what_the_lane_adds(config::Config config, bool are_weighted) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0, 0.3);
  if (config.descent.moments) config.descent.moments->from = 0;
  for (double& entry : config.descent.start) entry = normal(random);
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  lane::Lane lane(config.descent, mechanism.grids, Position{0});
  Seen before = seen_at_start(config.descent);
  for (std::uint64_t t = 0; t < 12; ++t) {
    const record::RowBatch rows = minibatch_of(random, config.descent, t, are_weighted);
    std::vector<std::vector<std::int64_t>> units;
    std::vector<noise::GridNoise> noise;
    for (const config::CalibratedStage& stage : mechanism.stages) {
      std::vector<std::int64_t>& own = units.emplace_back(stage.dimension);
      for (std::int64_t& unit : own) unit = static_cast<std::int64_t>(random() % 2'000'000'000) - 1'000'000'000;
    }
    for (const auto& own : units) noise.push_back({StepIndex{t}, own.size(), own});
    lane::Releases releases;
    lane.advance(record::slice(rows, 0, rows.count()), noise, releases);
    Seen after = seen_of(releases[0]);
    const std::vector<Eigen::VectorXd> added = added_by(config.descent, before.theta, rows);
    const std::vector<Eigen::VectorXd> sums = noisy_sums(config.descent, StepIndex{t}, before, after);
    ASSERT_EQ(added.size(), mechanism.stages.size());
    ASSERT_EQ(sums.size(), mechanism.stages.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      for (Eigen::Index j = 0; j < sums[i].size(); ++j) {
        const double drawn = mechanism.grids[i].to_gradient(units[i][static_cast<std::size_t>(j)]);
        EXPECT_NEAR(sums[i](j) - drawn, added[i](j), 1e-7) << mechanism.stages[i].name << ' ' << t;
      }
    }
    before = std::move(after);
  }
}

void expect_what_the_lane_adds(const config::Config& config) {
  expect_what_the_lane_adds(config, false);
  expect_what_the_lane_adds(config, true);
}

TEST(Contribution, IsWhatTheLaneAddsInEveryStage) {
  const tests::TemporaryFolder folder;
  const auto read = [&](const std::string& text, const std::vector<std::string>& overrides) {
    return config::read_config(folder.write("audit.toml", text), overrides);
  };
  const std::vector<std::string> changes{"model.l2=0.2", "descent.minibatch=2", "first_stage.schedule=inverse-sqrt",
                                         "first_stage.knee=3"};
  expect_what_the_lane_adds(read(tests::two_stage_config("clip_norm = 0.7\nl2 = 0.3"), changes));
  expect_what_the_lane_adds(
      read(tests::two_stage_config("clip_norm = 0.7\nstrength_share = 0.2\nstrength_clip = 2.0"), changes));
  expect_what_the_lane_adds(read(tests::sandwich_config(), {"descent.minibatch=3"}));
  expect_what_the_lane_adds(read(tests::sandwich_config(), {"descent.minibatch=2", "privacy.clipped_share=0.2"}));
}

struct Model {
  const char* name;
  std::string text;
  std::vector<std::string> overrides;
  Options options{};
  std::uint64_t runs = 5'000;
};

Finding audited(const Model& model, std::uint64_t runs) {
  const tests::TemporaryFolder folder;
  const config::Config config = config::read_config(folder.write("audit.toml", model.text), model.overrides);
  Options options = model.options;
  options.runs = runs;
  return audit(config, config::Purpose::stream, options);
}

/// Expects nearly all of the claim and never more, except for what chance adds.
void expect_nearly_all(const Bounds& bounds, const std::string& name) {
  EXPECT_LE(bounds.mu_bound, bounds.mu * 1.03) << name;
  EXPECT_GE(bounds.mu_bound, 0.78 * bounds.mu) << name;
  EXPECT_LE(bounds.epsilon_bound, bounds.epsilon * 1.03) << name;
  EXPECT_GT(bounds.epsilon_bound, 0.3 * bounds.epsilon) << name;
  EXPECT_NEAR(bounds.mu_of_filter, bounds.mu, 1e-6 * bounds.mu) << name;
  EXPECT_LT(bounds.shorter_share(), 0.01) << name;
}

TEST(Audit, PlaysModelsOfSeveralStages) {
  const std::string two_stages = tests::two_stage_config("clip_norm = 0.7");
  const std::string public_first_stage = tests::two_stage_config("private = false");
  Options passes;
  passes.passes = 2;
  const std::vector<Model> models{
      {"two stages", two_stages, {}},
      {"two passes", two_stages, {}, passes},
      {"minibatches",
       two_stages,
       {"descent.minibatch=3", "first_stage.schedule=inverse-sqrt", "first_stage.knee=3", "model.l2=0.1"}},
      {"strength", tests::two_stage_config("clip_norm = 0.7\nstrength_share = 0.4\nstrength_clip = 2.0"), {}},
      {"public", public_first_stage, {"privacy.protects=target"}},
      {"public, replace-one", public_first_stage, {"privacy.protects=target", "privacy.adjacency=replace-one"}},
      {"targets", two_stages, {"privacy.protects=target"}},
      {"targets beside values",
       public_first_stage,
       {"privacy.protects=target", "target.column='@header:y'", "stream.columns=['w', 'z', 'v', 'e']"}},
      {"halved", two_stages, {"privacy.calibration=proposition-3.1"}, {}, 10'000},
      {"sandwich", tests::sandwich_config(), {}},
      {"count", tests::example_config(), {"privacy.clipped_share=0.4"}, {}, 15'000},
      {"count and sandwich", tests::sandwich_config(), {"privacy.clipped_share=0.3"}}};
  for (const Model& model : models) expect_nearly_all(audited(model, model.runs), model.name);
}

// Opposite records do not move every stage; a record against no record does.
TEST(Audit, PlaysReplaceOneAgainstNothingToo) {
  const std::string two_stages = tests::two_stage_config("clip_norm = 0.7");
  const Finding opposite = audited({"", two_stages, {"privacy.adjacency=replace-one"}}, 5'000);
  expect_nearly_all(opposite, "two stages");
  ASSERT_TRUE(opposite.against_nothing);
  EXPECT_NEAR(opposite.against_nothing->rho, opposite.rho / 4, 1e-12);

  const std::string strength = tests::two_stage_config("clip_norm = 0.7\nstrength_share = 0.4\nstrength_clip = 2.0");
  const std::vector<std::pair<Model, std::string>> not_moved{
      {{"strength", strength, {"privacy.adjacency=replace-one"}}, "second moments"},
      {{"targets", two_stages, {"privacy.adjacency=replace-one", "privacy.protects=target"}}, "first stage"},
      {{"count", tests::example_config(), {"privacy.adjacency=replace-one", "privacy.clipped_share=0.4"}},
       "clipped gradients"}};
  for (const auto& [model, stage] : not_moved) {
    const Finding finding = audited(model, 20'000);
    EXPECT_LT(finding.mu_bound, 0.85 * finding.mu) << model.name;
    EXPECT_THAT(finding.unmoved(), ::testing::IsEmpty()) << model.name << ": against nothing it moves";
    for (const auto& [name, share] : finding.shorter) EXPECT_EQ(share, name == stage ? 1 : 0) << model.name << name;
    ASSERT_TRUE(finding.against_nothing) << model.name;
    expect_nearly_all(*finding.against_nothing, model.name);
  }
}

// A record that moves only a hundredth of ρ would let any claim about the rest pass.
TEST(Audit, ClaimsNothingOfStagesThatItDoesNotMove) {
  std::string text = tests::sandwich_config();
  text.replace(text.find("clip_norm = 2.0"), 15, "clip_norm = 1e3");
  const Finding finding =
      audited({"",
               text,
               {"features.0.clamp=[-1, 1]", "features.1.clamp=[-1, 1]", "target.clamp=[-1, 1]",
                "intervals.share=0.02", "intervals.second_moment_clip=1", "intervals.squared_residual_clip=1e6"}},
              6'000);
  EXPECT_FALSE(finding.exceeded());
  EXPECT_EQ(finding.verdict(), Verdict::not_shown);
}

// Releases that are no finite numbers would make every guess the same in both worlds.
TEST(Audit, RefusesGamesBeyondTheNumbers) {
  tests::expect_failure(
      Exit::configuration,
      [] {
        static_cast<void>(audited({"", tests::sandwich_config(), {"descent.step_size=1e308"}}, 6'000));
      },
      "are not finite");
  const std::vector<std::string> endless{"descent.step_size=1e308", "descent.clip_norm=1e3", "privacy.rho=2"};
  const Finding finding = audited({"", tests::example_config(), endless}, 6'000);
  EXPECT_EQ(finding.verdict(), Verdict::not_shown);
}

// The first gradient of the second stage comes with the first step of the first stage, whether that is private or
// public.
TEST(Audit, PlaysASecondStageWithoutControls) {
  std::string text = tests::two_stage_config("clip_norm = 0.7");
  text.replace(text.find("[[features]]"), text.find("[[instruments]]") - text.find("[[features]]"), "");
  text.replace(text.find("\"w\", "), 5, "");
  Options later;
  later.at = 3;
  const std::vector<std::string> plain{"model.intercept=false"};
  const Finding first = audited({"", text, plain}, 5'000);
  EXPECT_EQ(first.shorter.at(0).second, 1);
  EXPECT_EQ(first.shorter.at(1).second, 0);
  EXPECT_GT(first.mu_bound, first.mu / 2) << "the other stage has half of rho";
  EXPECT_EQ(first.unmoved(), std::vector<std::string>{first.shorter.at(0).first});
  EXPECT_EQ(first.verdict(), Verdict::not_shown) << "nothing was seen of the stage that did not move";
  expect_nearly_all(audited({"", text, plain, later}, 5'000), "private");
  const Finding opposite =
      audited({"", text, {"model.intercept=false", "privacy.adjacency=replace-one"}, later}, 5'000);
  expect_nearly_all(opposite, "replace-one");

  text.replace(text.find("clip_norm = 0.7"), 15, "private = false");
  const std::vector<std::string> targets{"model.intercept=false", "privacy.protects=target"};
  expect_nearly_all(audited({"", text, targets, later}, 5'000), "public");
  EXPECT_THROW(static_cast<void>(audited({"", text, targets}, 5'000)), Failure);
}

/// What games prove of μ for a mechanism whose grids are not those that its claim says.
double proven(const config::Config& config, const config::Mechanism& mechanism, std::uint8_t key_space) {
  Game game(config, mechanism, {8, {0}});
  const auto key_of = [&](std::uint64_t run, std::uint8_t world) {
    noise::KeyBytes key{};
    for (std::size_t i = 0; i < 8; ++i) key[i] = static_cast<std::uint8_t>(run >> (8 * i));
    key[30] = world;
    key[31] = key_space;
    return key;
  };
  std::uint64_t pilots = 0;
  const Statistic statistic(mechanism.stages.size(), 1'000,
                            [&](World world) { return game.play(world, key_of(pilots++, 7)); });
  Counts counts{3'000, 0, 0};
  for (std::uint64_t run = 0; run < counts.runs; ++run) {
    if (statistic.of(game.play(World::without, key_of(run, 0))) > game.mu() / 2) ++counts.without;
    if (statistic.of(game.play(World::with, key_of(run, 1))) > game.mu() / 2) ++counts.with;
  }
  return mu_lower_bound(counts, {});
}

// Each stage is tested by itself: a stage with half of its noise, or with next to none, shows although the others
// have theirs.
TEST(Audit, CatchesNoiseThatIsTooSmallInOneStage) {
  const tests::TemporaryFolder folder;
  const config::Config config = config::read_config(
      folder.write("audit.toml",
                   tests::two_stage_config("clip_norm = 0.7\nstrength_share = 0.1\nstrength_clip = 2.0")),
      {"first_stage.share=0.3"});
  const config::Mechanism claimed = config::make_mechanism(config, privacy::Participation::once());
  const double mu = std::sqrt(2 * claimed.spend.after(StepCount{8}).value());
  for (std::size_t stage = 0; stage < claimed.stages.size(); ++stage) {
    const config::CalibratedStage& own = claimed.stages[stage];
    for (const double part : {0.4, 1e-3}) {
      config::Mechanism broken = claimed;
      broken.grids[stage] =
          noise::Grid(NoiseStddev{own.stddev.value() * part}, noise::largest_stddev(own.correlation),
                      lane::stages(config.descent)[stage].clip);
      EXPECT_GT(proven(config, broken, static_cast<std::uint8_t>(stage)), mu) << own.name << ' ' << part;
    }
  }
  EXPECT_LE(proven(config, claimed, 9), mu);
}

}  // namespace
}  // namespace nustream::audit
