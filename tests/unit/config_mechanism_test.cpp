// What settings come to: the noise and its cost, and the digest that a resume has to match.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "config_reading.h"
#include "nustream/privacy/sensitivity.h"

namespace nustream::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Mechanism, CalibratesFromEpsilonAsFromTheRhoItComesTo) {
  const Config by_rho = read({"privacy.rho=0.1"});
  const Mechanism from_rho = make_mechanism(by_rho, privacy::Participation::once());
  std::string text = tests::example_config();
  text.replace(text.find("rho = 0.5"), 9, "epsilon = 2.0");
  const Mechanism from_epsilon = make_mechanism(read({}, text), privacy::Participation::once());
  EXPECT_GT(from_epsilon.main().sigma.value(), 0);
  EXPECT_NEAR(from_rho.spend.limit().value(), 0.1, 1e-12);
}

/// The spend of all stages by the definition: Σ sens²/(2σ²), each with the sensitivity of its own correlation.
double spent_by_definition(const Mechanism& mechanism, StepCount steps) {
  double sum = 0;
  for (const CalibratedStage& stage : mechanism.stages) {
    const double sensitivity = privacy::sensitivity(stage.correlation, steps, mechanism.participation).value();
    sum += sensitivity * sensitivity / (2 * stage.sigma.value() * stage.sigma.value());
  }
  return sum;
}

// The spend that is charged is that of the noise that is drawn, stage by stage, and its limit is what was asked for.
TEST(Mechanism, SpendsWhatIsAskedForAndNoMore) {
  const std::string two_stages = R"([stream]
name = "two"
[target]
column = "y"
[[instruments]]
column = "z"
[[endogenous]]
column = "x"
[descent]
step_size = 0.01
clip_norm = 1.0
average = "tail"
[first_stage]
step_size = 0.02
clip_norm = 2.0
strength_share = 0.3
strength_clip = 6.0
[privacy]
rho = 0.5
delta = 1e-6
[noise]
nu = 0.01
)";
  const std::string sandwich = tests::example_config() + R"([intervals]
kind = "sandwich"
second_moment_clip = 4.0
squared_residual_clip = 2.0
)";
  const StepCount steps{50'000};
  const auto check = [&](const Config& config, const privacy::Participation& participation, std::size_t stages) {
    const Mechanism mechanism = make_mechanism(config, participation, steps);
    EXPECT_EQ(mechanism.stages.size(), stages);
    EXPECT_LE(mechanism.spend.limit().value(), 0.5);
    EXPECT_GE(mechanism.spend.limit().value(), 0.5 * (1 - 1e-9));
    EXPECT_NEAR(spent_by_definition(mechanism, steps), 0.5, 1e-9);
    for (const std::uint64_t early : {1U, 100U}) {
      const StepCount now{early};
      EXPECT_NEAR(mechanism.spend.after(now).value(), spent_by_definition(mechanism, now), 1e-9);
    }
  };
  for (const privacy::Participation& participation :
       {privacy::Participation::once(), privacy::Participation(5, 10'000), privacy::Participation(3, 1)}) {
    check(read({}), participation, 1);
    check(read({"noise.correlation=independent"}), participation, 1);
    check(read({"noise.correlation=windowed", "noise.window=20"}), participation, 1);
    check(read({"privacy.adjacency=replace-one"}), participation, 1);
    check(read({"descent.average=tail"}, sandwich), participation, 3);
    check(read({}, two_stages), participation, 3);
  }
}

// An epoch of an earlier version, whose states have no batches, goes on under the digest that it has.
TEST(Mechanism, TheDefaultStatusOfASandwichIsNoPartOfTheDigest) {
  const std::string sandwich = tests::example_config() + R"([intervals]
kind = "sandwich"
second_moment_clip = 4.0
squared_residual_clip = 2.0
)";
  const auto text = [&](std::vector<std::string> overrides) {
    overrides.emplace_back("descent.average=tail");
    const Config config = read(overrides, sandwich);
    EXPECT_TRUE(config.descent.batching);
    return settings_text(config, make_mechanism(config, privacy::Participation::once()), true,
                         EpochStart::last_release);
  };
  EXPECT_EQ(text({}).find("\nbatches="), std::string::npos);
  EXPECT_EQ(text({"release.status=false"}), text({}));
  EXPECT_NE(text({"release.status=true"}).find("\nbatches="), std::string::npos);
}

TEST(Mechanism, ReplaceOneDoublesTheDisplacementAndNothingElse) {
  const Mechanism zero_out = make_mechanism(read({}), privacy::Participation::once());
  const Mechanism replace = make_mechanism(read({"privacy.adjacency=replace-one"}), privacy::Participation::once());
  EXPECT_EQ(replace.main().displacement.value(), 2 * zero_out.main().displacement.value());
  EXPECT_EQ(replace.main().sigma.value(), zero_out.main().sigma.value());
  EXPECT_EQ(replace.main().stddev.value(), 2 * zero_out.main().stddev.value());
}

std::string digest(const std::vector<std::string>& overrides) {
  const Config config = read(overrides);
  return settings_digest(config, make_mechanism(config, privacy::Participation::once()));
}

TEST(SettingsDigest, ChangesWithEverythingThatChangesAnIterateOrItsCost) {
  const std::string base = digest({});
  for (const char* change : {"features.0.center=0.6",
                             "features.0.scale=3.0",
                             "features.0.transform=log",
                             "features.0.clamp=[0.0, 1.0]",
                             "features.0.column=z",
                             "target.column=z",
                             "model.loss=huber",
                             "model.l2=0.1",
                             "model.intercept=false",
                             "descent.step_size=0.02",
                             "descent.clip_norm=2.0",
                             "descent.schedule=inverse",
                             "descent.average=tail",
                             "descent.momentum=0.9",
                             "descent.horizon=1000",
                             "descent.minibatch=2",
                             "descent.start=[0.0, 1.0]",
                             "privacy.rho=0.6",
                             "privacy.adjacency=replace-one",
                             "noise.nu=0.02",
                             "noise.correlation=independent",
                             "noise.poles=3",
                             "stream.record_bytes_max=100"}) {
    EXPECT_NE(digest({change}), base) << change;
  }
  const std::vector<std::string> ends = {"noise.correlation=nu", "noise.horizon=50"};
  const auto ending = [&](std::vector<std::string> more) {
    more.insert(more.begin(), ends.begin(), ends.end());
    return digest(more);
  };
  EXPECT_NE(ending({"noise.restarts=true"}), ending({}));
  EXPECT_NE(ending({"noise.restarts=true", "descent.horizon=200"}), ending({"noise.restarts=true"}));
  EXPECT_NE(ending({"descent.cooldown=0.25"}), ending({}));
  EXPECT_NE(ending({"descent.cooldown=0.25", "descent.cooldown_to=0.05"}), ending({"descent.cooldown=0.25"}));
  EXPECT_NE(digest({"descent.projection=ball", "descent.radius=1.0"}),
            digest({"descent.projection=ball", "descent.radius=2.0"}));
}

std::vector<std::string> optimised(std::vector<std::string> more) {
  more.insert(more.begin(), {"noise.correlation=optimised", "noise.horizon=60"});
  return more;
}

TEST(OptimisedNoise, IsFittedToWhatTheSettingsSay) {
  const auto family = [](const std::vector<std::string>& more) { return read(optimised(more)).noise.correlation; };
  EXPECT_EQ(std::get<noise::Strategy>(family({}).family()).c.size(), 60u);
  EXPECT_EQ(std::get<noise::Strategy>(family({"noise.bands=7"}).family()).c.size(), 7u);
  EXPECT_EQ(std::get<noise::Rational>(family({"noise.poles=3"}).family()).poles(), 3u);
  EXPECT_EQ(std::get<noise::Dense>(family({"noise.dense=true"}).family()).bands(), 60u);
  EXPECT_EQ(
      std::get<noise::Dense>(
          family({"noise.dense=true", "noise.error=mean", "noise.participations=2", "noise.separation=20"}).family())
          .bands(),
      20u);
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{},
        {"noise.poles=3"},
        {"noise.dense=true"},
        {"noise.objective=descent", "noise.eigenvalues=0.5"},
        {"noise.objective=descent", "noise.strong_convexity=1", "noise.smoothness=2", "noise.poles=2"}}) {
    EXPECT_EQ(family(more).horizon(), StepCount{60});
  }
  EXPECT_NE(std::get<noise::Strategy>(family({}).family()).c,
            std::get<noise::Strategy>(family({"noise.error=mean"}).family()).c);
}

TEST(KnownLength, IsWhatTheSettingsSay) {
  const auto made = [](const std::vector<std::string>& more) { return read(more).noise.correlation; };
  EXPECT_EQ(made({"noise.correlation=full-honaker", "noise.height=5"}).horizon(), StepCount{32});
  EXPECT_EQ(made({"noise.correlation=circulant", "noise.horizon=40"}).horizon(), StepCount{40});
  EXPECT_THAT(refusal({"noise.correlation=full-honaker"}), AllOf(HasSubstr("noise.height"), HasSubstr("missing")));
  EXPECT_THAT(refusal({"noise.correlation=full-honaker", "noise.height=12"}),
              AllOf(HasSubstr("noise.height"), HasSubstr("0 to 11")));
  EXPECT_THAT(refusal({"noise.correlation=circulant"}), AllOf(HasSubstr("noise.horizon"), HasSubstr("missing")));
  EXPECT_THAT(refusal({"noise.correlation=circulant", "noise.horizon=5000"}), HasSubstr("noise.horizon"));
  EXPECT_NE(digest({"noise.correlation=circulant", "noise.horizon=32"}),
            digest({"noise.correlation=full-honaker", "noise.height=5"}));
}

// Every correlation with a horizon can begin anew behind it, whether or not it was fitted.
TEST(Restarts, AreOfEveryCorrelationWithAHorizon) {
  for (const std::vector<std::string>& more : {std::vector<std::string>{"noise.correlation=nu", "noise.nu=0"},
                                               {"noise.correlation=anti-pgd"},
                                               {"noise.correlation=strategy", "noise.c=[1.0, 0.5]"},
                                               {"noise.correlation=windowed", "noise.window=5"},
                                               {"noise.correlation=optimised"},
                                               {"noise.correlation=optimised", "noise.poles=3"},
                                               {"noise.correlation=optimised", "noise.dense=true"},
                                               {"noise.correlation=circulant"}}) {
    std::vector<std::string> all = {"noise.horizon=60", "noise.restarts=true"};
    all.insert(all.end(), more.begin(), more.end());
    const Config config = read(all);
    const auto* const restarted = std::get_if<noise::Restarted>(&config.noise.correlation.family());
    ASSERT_NE(restarted, nullptr) << more.front();
    EXPECT_EQ(restarted->every(), StepCount{60});
    EXPECT_EQ(config.noise.correlation.horizon(), std::nullopt);
    // Two passes, 100 steps apart, so that each is in a block of its own.
    const Mechanism two = make_mechanism(config, {2, 100});
    const Mechanism one = make_mechanism(config, privacy::Participation::once());
    EXPECT_NEAR(two.main().sensitivity.value(), std::sqrt(2) * one.main().sensitivity.value(), 1e-9);
  }
  // A correlation without a horizon never has to begin anew.
  EXPECT_EQ(read({"noise.restarts=true"}).noise.correlation.name(), "rational");
}

TEST(Course, HorizonIsTheNoisesStop) {
  const Config config = read({"descent.horizon=100"});
  EXPECT_EQ(config.noise.correlation.horizon(), StepCount{100});
  const auto sensitivity = [](const Config& of) {
    return make_mechanism(of, privacy::Participation::once()).main().sensitivity.value();
  };
  EXPECT_LT(sensitivity(config), sensitivity(read({})));
  EXPECT_THAT(refusal({"noise.correlation=nu", "noise.horizon=50", "descent.horizon=51"}),
              AllOf(HasSubstr("descent.horizon"), HasSubstr("at most the 50 steps")));
  EXPECT_THAT(
      refusal({"descent.horizon=100", "descent.cooldown=0.5", "descent.average=tail", "intervals.kind=batch-means"}),
      AllOf(HasSubstr("intervals.kind"), HasSubstr("cooldown")));
}

// The fit to a descent takes the step size and the loss from their own sections, and needs no end of the stream.
TEST(OptimisedNoise, KnowsTheDescent) {
  const auto q = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"noise.correlation=optimised", "noise.objective=descent",
                               "noise.eigenvalues=[1.0, 0.2]", "noise.poles=3"});
    const Config config = read(more);
    EXPECT_EQ(config.noise.correlation.horizon(), std::nullopt);
    return std::get<noise::Rational>(config.noise.correlation.family()).q();
  };
  EXPECT_EQ(q({}), q({"descent.clip_norm=3"}));
  EXPECT_NE(q({}), q({"descent.step_size=0.02"}));
  // Momentum makes each step go further: 0.5 has the effect of twice the step size.
  EXPECT_EQ(q({"descent.step_size=0.01", "descent.momentum=0.5"}), q({"descent.step_size=0.02"}));
  // The slowest pole is some multiple of the slowest contraction.
  EXPECT_GT(1 - q({"descent.step_size=0.02"}).front(), 1.3 * (1 - q({"descent.step_size=0.01"}).front()));
}

TEST(OptimisedNoise, RefusesWhatCannotBeFitted) {
  const auto refused = [](const std::vector<std::string>& more) { return refusal(optimised(more)); };
  EXPECT_THAT(refusal({"noise.correlation=optimised"}), AllOf(HasSubstr("noise.horizon"), HasSubstr("missing")));
  EXPECT_THAT(refused({"noise.horizon=0"}), AllOf(HasSubstr("noise.horizon"), HasSubstr("at least 1")));
  EXPECT_THAT(refused({"noise.bands=61"}), AllOf(HasSubstr("noise.bands"), HasSubstr("1 ... horizon")));
  EXPECT_THAT(refused({"noise.poles=13"}), AllOf(HasSubstr("noise.poles"), HasSubstr("1 ... 12")));
  EXPECT_THAT(refused({"noise.poles=3", "noise.bands=3"}), AllOf(HasSubstr("noise.bands"), HasSubstr("not both")));
  EXPECT_THAT(refused({"noise.poles=3", "noise.dense=true"}), HasSubstr("noise.dense"));
  EXPECT_THAT(refused({"noise.dense=true", "noise.bands=3"}), HasSubstr("mean error"));
  EXPECT_THAT(refused({"noise.error=median"}), AllOf(HasSubstr("noise.error"), HasSubstr("max, mean")));
  EXPECT_THAT(refused({"noise.objective=sum"}), AllOf(HasSubstr("noise.objective"), HasSubstr("prefix-sum")));
  EXPECT_THAT(refused({"noise.participations=0"}), HasSubstr("noise.participations"));
  EXPECT_THAT(refused({"noise.participations=2"}), AllOf(HasSubstr("noise.separation"), HasSubstr("missing")));
  EXPECT_THAT(refused({"noise.objective=descent"}), AllOf(HasSubstr("noise.strong_convexity"), HasSubstr("missing")));
  EXPECT_THAT(refused({"noise.objective=descent", "noise.strong_convexity=2", "noise.smoothness=1"}),
              AllOf(HasSubstr("noise.smoothness"), HasSubstr(">= strong_convexity")));
  EXPECT_THAT(refused({"noise.objective=descent", "noise.eigenvalues=[1.0, 0.0]"}), HasSubstr("noise.eigenvalues"));
  EXPECT_THAT(refused({"noise.objective=descent", "noise.eigenvalues=1.0", "noise.dense=true"}),
              HasSubstr("noise.dense"));
  EXPECT_THAT(refused({"noise.objective=descent", "noise.eigenvalues=1.0", "noise.bands=40000"}),
              HasSubstr("noise.bands"));
  EXPECT_THAT(refused({"noise.generator=recurrent"}), HasSubstr("recurrent generator"));
}

// A resumed run has to find the very same B, so the digest holds its numbers, and not what it was fitted to.
TEST(SettingsDigest, HoldsTheCoefficientsOfAFit) {
  const auto fitted = [](const std::vector<std::string>& more) { return digest(optimised(more)); };
  EXPECT_EQ(fitted({}), fitted({}));
  EXPECT_EQ(fitted({"noise.dense=true"}), fitted({"noise.dense=true"}));
  EXPECT_NE(fitted({"noise.dense=true"}), fitted({"noise.dense=true", "noise.error=mean"}));
  EXPECT_NE(fitted({"noise.dense=true"}), fitted({"noise.dense=true", "noise.horizon=61"}));
  EXPECT_NE(fitted({}), fitted({"noise.bands=20"}));
  EXPECT_NE(fitted({"noise.poles=2"}), fitted({"noise.poles=3"}));
  // With all bands, the fit to the largest error is the column of ν = 0, so settings that give this column by its
  // numbers have the same digest.
  Config given = read(optimised({}));
  given.noise.correlation = noise::Correlation{noise::Strategy{
      noise::strategy_coefficients(noise::Correlation{noise::NuFtrl{Damping{0}, StepCount{60}}}, 60), StepCount{60}}};
  EXPECT_EQ(settings_digest(given, make_mechanism(given, privacy::Participation::once())), fitted({}));
  // Changes one bit of one entry of a matrix.
  Config dense = read(optimised({"noise.dense=true"}));
  const auto rows = std::get<noise::Dense>(dense.noise.correlation.family()).rows();
  std::vector<double> changed(rows.begin(), rows.end());
  changed[100] = std::nextafter(changed[100], 2);
  dense.noise.correlation = noise::Correlation{noise::Dense(changed, 60, StepCount{60})};
  EXPECT_NE(settings_digest(dense, make_mechanism(dense, privacy::Participation::once())),
            fitted({"noise.dense=true"}));
}

// The digest holds the rule and not its outcome: an epoch that found no release has the digest of one that found one.
TEST(SettingsDigest, HoldsTheRuleOfWhereAnEpochBegins) {
  const Config config = read({});
  const Mechanism mechanism = make_mechanism(config, privacy::Participation::once());
  const EpochDigests digests(config, mechanism, true);
  EXPECT_EQ(digests.of(EpochStart::last_release), settings_digest(config, mechanism));
  EXPECT_NE(digests.of(EpochStart::settings), digests.of(EpochStart::last_release));
  for (const std::string& one : digests.both()) {
    EXPECT_TRUE(digests.has(one));
    EXPECT_EQ(digests.like(one), one);
  }
  EXPECT_FALSE(digests.has("another"));
  EXPECT_EQ(digests.like("another"), digests.of(EpochStart::last_release));
}

TEST(ModelDigest, ChangesWithWhatTheCoefficientsAreOf) {
  const std::string base = model_digest(read({}));
  EXPECT_EQ(base.size(), 16U);
  for (const char* change : {"features.0.transform=log", "features.0.column=z", "features.0.name=z",
                             "target.column=z", "target.transform=log", "model.loss=huber"}) {
    EXPECT_NE(model_digest(read({change})), base) << change;
  }
  for (const char* change : {"features.0.center=0.7", "features.0.scale=3.0", "descent.clip_norm=2.0",
                             "privacy.rho=0.6", "stream.name=other"}) {
    EXPECT_EQ(model_digest(read({change})), base) << change;
  }
}

TEST(SettingsDigest, LeavesOutInputCadenceAndPlaces) {
  const std::string base = digest({});
  for (const char* change : {"stream.input=other.csv", "release.every=7", "state.directory=elsewhere",
                             "state.commit_records=5", "privacy.delta=1e-9"}) {
    EXPECT_EQ(digest({change}), base) << change;
  }
}

// Another delimiter makes other fields of the same bytes.
TEST(SettingsDigest, HoldsHowARecordIsRead) {
  const std::string base = digest({});
  EXPECT_NE(digest({"stream.delimiter=\";\""}), base);
  EXPECT_NE(digest({"stream.format=jsonl"}), base);
  EXPECT_NE(digest({"stream.record_bytes_max=100"}), base);
  // Messages have no header line, so the order of the columns counts whatever `header` says.
  EXPECT_NE(digest({"stream.columns=[\"x\", \"y\"]"}), digest({"stream.columns=[\"y\", \"x\"]"}));
}

}  // namespace
}  // namespace nustream::config
