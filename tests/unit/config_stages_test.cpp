// Models of several stages: each stage gets its share of ρ and its own σ, and together they cost what was asked for.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "config/mechanism.h"
#include "example_config.h"
#include "expect_failure.h"
#include "nustream/privacy/sensitivity.h"
#include "temporary_folder.h"

namespace nustream::config {
namespace {

const std::string first_stage = R"(
[[instruments]]
column = "z"
[[endogenous]]
column = "w"
[first_stage]
step_size = 0.5
)";
const std::string instruments = first_stage + "clip_norm = 12.0\nshare = 0.25\n";
const std::string public_rows = first_stage + "private = false\n";
const std::vector<std::string> sandwich{"intervals.kind=sandwich",        "intervals.share=0.1",
                                        "intervals.second_moment_clip=5", "intervals.squared_residual_clip=7",
                                        "descent.average=tail",           "descent.average_from=10"};

Config read(const std::string& more, const std::vector<std::string>& overrides) {
  const tests::TemporaryFolder folder;
  return read_config(folder.write("stages.toml", tests::example_config() + more), overrides);
}

/// Computes each stage by itself, from scratch: σ²Δ² = sensitivity²Δ²/(2ρ_i).
void expect_stages(const Config& config, const std::vector<double>& shares, const std::vector<double>& clips) {
  const Mechanism mechanism = make_mechanism(config, privacy::Participation::once());
  const double rho = config.privacy.rho->value();
  const double factor = config.privacy.adjacency == privacy::Adjacency::replace_one ? 2 : 1;
  ASSERT_EQ(mechanism.stages.size(), shares.size());
  double squares = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const CalibratedStage& stage = mechanism.stages[i];
    EXPECT_NEAR(stage.rho.value(), shares[i] * rho, 1e-12 * rho) << stage.name;
    EXPECT_EQ(stage.displacement.value(), factor * clips[i]) << stage.name;
    const double sensitivity =
        privacy::sensitivity_limit(config.noise.correlation, privacy::Participation::once()).value();
    const double sigma = sensitivity / std::sqrt(2 * shares[i] * rho);
    EXPECT_NEAR(stage.stddev.value(), sigma * factor * clips[i], 1e-9 * stage.stddev.value()) << stage.name;
    // The grid clips at this stage's own norm, and never beyond it.
    EXPECT_NEAR(mechanism.grids[i].clip_radius(), clips[i], 1e-12 * clips[i]) << stage.name;
    EXPECT_LT(mechanism.grids[i].clip_radius(), clips[i]) << stage.name;
    squares += 1 / (stage.sigma.value() * stage.sigma.value());
  }
  const double limit = mechanism.spend.limit().value();
  EXPECT_LE(limit, rho);
  EXPECT_NEAR(limit, rho, 1e-12 * rho);
  // What the σ of all stages really cost: no share is counted twice, and none is left out.
  const double sensitivity =
      privacy::sensitivity_limit(config.noise.correlation, privacy::Participation::once()).value();
  EXPECT_NEAR(limit, sensitivity * sensitivity * squares / 2, 1e-9 * rho);
}

TEST(Stages, ATwoStageModelSharesRho) {
  expect_stages(read(instruments, {}), {0.75, 0.25}, {1, 12});
  expect_stages(read(instruments, {"privacy.adjacency=replace-one"}), {0.75, 0.25}, {1, 12});
}

TEST(Stages, TheStrengthOfTheFirstIsPaidForBeforeTheyShare) {
  expect_stages(read(instruments, {"first_stage.strength_share=0.2", "first_stage.strength_clip=30"}),
                {0.8 * 0.75, 0.8 * 0.25, 0.2}, {1, 12, 30});
}

TEST(Stages, BreadAndMeatHalveTheirShare) {
  expect_stages(read("", sandwich), {0.9, 0.05, 0.05}, {1, 5, 7});
}

TEST(Stages, APublicFirstStageLeavesAllOfRhoToTheSecond) {
  expect_stages(read(public_rows, {"privacy.protects=target"}), {1}, {1});
}

/// The count's stage with its share, and what is left to the one before it.
void expect_count(const std::vector<std::string>& overrides, double displacement) {
  std::vector<std::string> all = overrides;
  all.emplace_back("privacy.clipped_share=0.01");
  const Config config = read("", all);
  const Mechanism mechanism = make_mechanism(config, privacy::Participation::once());
  const double rho = config.privacy.rho->value();
  const CalibratedStage& count = mechanism.stages.back();
  EXPECT_EQ(count.name, "clipped gradients");
  EXPECT_EQ(count.dimension, 1U);
  EXPECT_EQ(count.displacement.value(), displacement);
  EXPECT_NEAR(count.rho.value(), 0.01 * rho, 1e-12 * rho);
  EXPECT_NEAR(mechanism.main().rho.value(), 0.99 * rho, 1e-12 * rho);
  EXPECT_EQ(count.sensitivity, mechanism.main().sensitivity);
  const double limit = mechanism.spend.limit().value();
  EXPECT_LE(limit, rho);
  EXPECT_NEAR(limit, rho, 1e-12 * rho);
  double spent = 0;
  for (const CalibratedStage& stage : mechanism.stages) {
    spent += std::pow(stage.sensitivity.value() / stage.sigma.value(), 2) / 2;
  }
  EXPECT_NEAR(limit, spent, 1e-9 * rho);
}

// Another record in the place of one moves a number between 0 and 1 by 1, not by 2. Of users it may be by 1 at each
// of two steps, which costs as much as by 2 at one.
TEST(Stages, ACountOfClippedGradientsIsPaidForOnItsOwn) {
  expect_count({}, 1);
  expect_count({"privacy.adjacency=replace-one"}, 1);
  expect_count({"model.loss=multinomial", "model.classes=3"}, 1);
  const std::vector<std::string> users{"privacy.unit=user", "privacy.user=who", "users.participations=3"};
  expect_count(users, 1);
  std::vector<std::string> replaced = users;
  replaced.emplace_back("privacy.adjacency=replace-one");
  expect_count(replaced, 2);
}

TEST(Stages, ACountTakesItsShareBeforeOthersShare) {
  std::vector<std::string> both = sandwich;
  both.emplace_back("privacy.clipped_share=0.2");
  const Config config = read("", both);
  const Mechanism mechanism = make_mechanism(config, privacy::Participation::once());
  const double rho = config.privacy.rho->value();
  const double shares[] = {0.8 * 0.9, 0.8 * 0.05, 0.8 * 0.05, 0.2};
  ASSERT_EQ(mechanism.stages.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(mechanism.stages[i].rho.value(), shares[i] * rho, 1e-12 * rho) << i;
  }
}

// Nothing of a stream that counts nothing is another than before there were counts.
TEST(Stages, NoCountLeavesEverythingAsItWas) {
  const auto digest = [](const std::vector<std::string>& overrides) {
    const Config config = read("", overrides);
    return settings_digest(config, make_mechanism(config, privacy::Participation::once()));
  };
  EXPECT_EQ(digest({"privacy.clipped_share=0"}), digest({}));
  EXPECT_NE(digest({"privacy.clipped_share=0.01"}), digest({}));
  EXPECT_NE(digest({"privacy.clipped_share=0.02"}), digest({"privacy.clipped_share=0.01"}));
  const Mechanism plain = make_mechanism(read("", {}), privacy::Participation::once());
  EXPECT_EQ(plain.stages.size(), 1U);
  EXPECT_EQ(plain.main().rho.value(), 0.5);
}

TEST(Stages, ACountIsRefusedWhereItHasNoMeaning) {
  const auto refused = [](const std::string& more, std::vector<std::string> overrides, const std::string& why) {
    overrides.emplace_back("privacy.clipped_share=0.01");
    tests::expect_failure(
        Exit::configuration, [&] { static_cast<void>(read(more, overrides)); }, why);
  };
  refused(instruments, {}, "[[endogenous]]");
  refused("[moments]\nrow_norm = 1\nresidual_bound = 1\n", {"model.estimator=moments"}, "no gradients are clipped");
  refused("", {"noise.correlation=tree", "noise.height=6"}, "noise.correlation");
  refused("", {"noise.correlation=windowed", "noise.window=12"}, "noise.correlation");
  for (const char* share : {"1", "-0.1", "nan"}) {
    tests::expect_failure(
        Exit::configuration, [&] { static_cast<void>(read("", {std::string("privacy.clipped_share=") + share})); },
        "clipped_share");
  }
}

TEST(Stages, EverySettingOfThemIsInTheDigest) {
  const auto digest = [](const std::string& more, const std::vector<std::string>& overrides) {
    const Config config = read(more, overrides);
    return settings_digest(config, make_mechanism(config, privacy::Participation::once()));
  };
  const std::vector<std::string> strength{"first_stage.strength_share=0.2", "first_stage.strength_clip=30"};
  const std::string base = digest(instruments, strength);
  for (const char* change : {"first_stage.share=0.3", "first_stage.clip_norm=11", "first_stage.step_size=0.4",
                             "first_stage.l2=0.1", "first_stage.strength_share=0.1", "first_stage.strength_clip=20",
                             "endogenous.0.center=1", "instruments.0.scale=2"}) {
    std::vector<std::string> changed = strength;
    changed.emplace_back(change);
    EXPECT_NE(digest(instruments, changed), base) << change;
  }
  EXPECT_NE(digest(public_rows, {"privacy.protects=target"}), digest(instruments, {}));
  EXPECT_NE(digest(public_rows, {"privacy.protects=target", "first_stage.step_size=0.4"}),
            digest(public_rows, {"privacy.protects=target"}));
  const std::string intervals = digest("", sandwich);
  for (const char* change : {"intervals.share=0.2", "intervals.second_moment_clip=6",
                             "intervals.squared_residual_clip=8", "descent.average_from=11"}) {
    std::vector<std::string> changed = sandwich;
    changed.emplace_back(change);
    EXPECT_NE(digest("", changed), intervals) << change;
  }
  EXPECT_NE(digest("", {"model.loss=multinomial", "model.classes=3"}),
            digest("", {"model.loss=multinomial", "model.classes=4"}));
  EXPECT_NE(digest(instruments, {}), digest(instruments, {"privacy.calibration=proposition-3.1"}));
}

}  // namespace
}  // namespace nustream::config
