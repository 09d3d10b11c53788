// Settings: what is read, what is refused and what the refusal says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <cmath>

#include "config/advice.h"
#include "config/config.h"
#include "config/mechanism.h"
#include "error.h"
#include "example_config.h"
#include "nearest.h"
#include "nustream/privacy/sensitivity.h"
#include "temporary_folder.h"

namespace nustream::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Config read(const std::vector<std::string>& overrides, const std::string& text = tests::example_config()) {
  const tests::TemporaryFolder folder;
  return read_config(folder.write("example.toml", text), overrides);
}

std::string refusal(const std::vector<std::string>& overrides, const std::string& text = tests::example_config()) {
  try {
    const Config config = read(overrides, text);
    static_cast<void>(make_mechanism(config, privacy::Participation::once()));
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), Exit::configuration) << failure.what();
    return failure.what();
  }
  return "accepted";
}

TEST(Config, ReadsTheBundledExample) {
  const Config config = read_config(std::string(NUSTREAM_ROOT_DIR) + "/examples/retail/retail.toml", {});
  EXPECT_EQ(config.stream, "retail");
  EXPECT_EQ(config.descent.dimension, 2u);
  EXPECT_EQ(config.schema.features.at(0).name, "log(unit_price)");
  EXPECT_EQ(config.schema.target->center, 1.5);
  EXPECT_EQ(config.descent.averaging.from, 198942u);
  EXPECT_EQ(config.privacy.rho->value(), 0.1);
  EXPECT_EQ(config.noise.correlation.name(), "rational");
  EXPECT_EQ(config.descent.release_every, 1000u);
  EXPECT_EQ(config.input.files.at(0),
            std::string(NUSTREAM_ROOT_DIR) + "/examples/retail/online_retail_events.csv.gz");
}

TEST(Config, ASectionForAnotherCommandIsSaid) {
  EXPECT_THAT(refusal({}, "[stream]\nname = \"survey\"\n[local]\nepsilon = 4\n"),
              HasSubstr("nustream local randomize"));
}

TEST(Advice, IsGivenWhereTheStepsOvershoot) {
  EXPECT_THAT(overshoot(read({"descent.step_size=2"})), HasSubstr("descent.step_size = 2 steps beyond the minimum"));
  EXPECT_EQ(overshoot(read({"descent.step_size=1.99"})), "");
  EXPECT_EQ(overshoot(read({"descent.step_size=2", "plan.second_moment_eigenvalues=[0.5, 0.9]"})), "");
  EXPECT_THAT(overshoot(read({"descent.step_size=0.5", "plan.second_moment_eigenvalues=[0.5, 4.1]"})),
              HasSubstr("0.5 times a curvature of 4.1 is 2 or more"));
  EXPECT_EQ(
      overshoot(read({"descent.step_size=7", "model.loss=logistic", "target.transform=identity", "target.center=0"})),
      "");
  EXPECT_NE(
      overshoot(read({"descent.step_size=8", "model.loss=logistic", "target.transform=identity", "target.center=0"})),
      "");
}

TEST(Config, AnOverrideReachesEveryKindOfKey) {
  const Config config = read({"features.0.center=0.25", "stream.name=other", "noise.correlation=\"independent\"",
                              "state.rejects=true", "descent.start=[1.0, 2.0]"});
  EXPECT_EQ(config.schema.features.at(0).center, 0.25);
  EXPECT_EQ(config.stream, "other");
  EXPECT_EQ(config.noise.correlation.name(), "independent");
  EXPECT_TRUE(config.state.rejects);
  EXPECT_EQ(config.descent.start, (std::vector<double>{1.0, 2.0}));
}

TEST(Config, AnUnknownKeyNamesPlaceAndNearestKnownKey) {
  const std::string text = tests::example_config() + "\n[release]\nevry = 10\n";
  EXPECT_THAT(refusal({}, text),
              AllOf(HasSubstr("example.toml:28:8"), HasSubstr("release.evry"), HasSubstr("'every'")));
  EXPECT_THAT(refusal({"descent.clip_nrm=1"}), AllOf(HasSubstr("clip_nrm"), HasSubstr("'clip_norm'")));
  EXPECT_THAT(refusal({"privcy.rho=1"}), HasSubstr("'privacy'"));
}

// What stands in the place of a key that has to be there is told with it.
TEST(Config, AMisspeltRequiredKeyOrSectionIsNamed) {
  const auto misspelt = [](const std::string& from, const std::string& to) {
    std::string text = tests::example_config();
    return refusal({}, text.replace(text.find(from), from.size(), to));
  };
  EXPECT_THAT(misspelt("delta =", "dleta ="),
              AllOf(HasSubstr("privacy.delta is missing"), HasSubstr("is 'dleta' (")));
  EXPECT_THAT(misspelt("clip_norm =", "clip ="),
              AllOf(HasSubstr("descent.clip_norm is missing"), HasSubstr("'clip'")));
  EXPECT_THAT(misspelt("name =", "nam ="), AllOf(HasSubstr("stream.name is missing"), HasSubstr("'nam'")));
  EXPECT_THAT(misspelt("[privacy]", "[privcy]"), AllOf(HasSubstr("privcy: unknown key"), HasSubstr("'privacy'")));
  EXPECT_THAT(misspelt("[[features]]", "[features]"), HasSubstr("write [[features]] above each"));
  // A known key that merely looks alike is not taken for the missing one.
  EXPECT_THAT(misspelt("name =", "time ="), AllOf(HasSubstr("stream.name is missing"), Not(HasSubstr("'time'"))));
}

TEST(Config, ATextOnTheCommandLineIsToldWhereItStands) {
  EXPECT_THAT(refusal({"model.loss=logistc"}), AllOf(HasSubstr("--set model.loss=logistc"), HasSubstr("'logistic'")));
}

TEST(Config, AnOverrideTakesThePlaceOfTheOtherBudget) {
  const Config by_epsilon = read({"privacy.epsilon=.5"});
  EXPECT_FALSE(by_epsilon.privacy.rho);
  EXPECT_EQ(by_epsilon.privacy.epsilon->value(), 0.5);
  EXPECT_EQ(read({"descent.step_size=.25"}).descent.schedule.at(StepIndex{0}), 0.25);
  EXPECT_THAT(refusal({"privacy.epsilon=1", "privacy.rho=1"}), HasSubstr("not both"));
}

// What the file holds is shown, but never as lines of its own.
TEST(Config, AnErrorIsOneLineWhateverTheFileHolds) {
  for (const char* text : {"[stream]\nname=n\n", "[stream]\n\"a\\nb\" = 1\n", "[\"a\\u001bb\"]\nx = 1\n"}) {
    const std::string told = refusal({}, text);
    EXPECT_TRUE(std::none_of(told.begin(), told.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
        << told;
  }
}

TEST(Config, ATextThatTomlCannotHoldIsRefused) {
  EXPECT_THAT(refusal({"stream.name=caf\xe9"}), HasSubstr("--set stream.name"));
}

// A record that cannot be used would leave on the release topic, or come back as input.
TEST(Config, TwoTopicsOfOneNameAreRefused) {
  const std::string kafka = tests::example_config() + "[kafka]\nbrokers = \"b:1\"\ntopic = \"t\"\n";
  const char* const names[] = {"topic",        "release_topic", "state_topic",
                               "ledger_topic", "model_topic",   "dead_letter_topic"};
  for (const std::string one : names) {
    for (const std::string other : names) {
      if (one == other) continue;
      const std::string told = refusal({"kafka." + one + "=same", "kafka." + other + "=same"}, kafka);
      EXPECT_THAT(told, AllOf(HasSubstr("kafka." + one), HasSubstr("kafka." + other)));
    }
  }
  EXPECT_THAT(refusal({"kafka.topic=example.releases"}, kafka),
              AllOf(HasSubstr("kafka.topic = "), HasSubstr("not that of kafka.release_topic")));
  EXPECT_NO_THROW(static_cast<void>(read({"kafka.dead_letter_topic=dead"}, kafka)));
}

TEST(Config, ALibrarysSettingIsNotShownWhereItIsRefused) {
  const std::string told =
      refusal({}, tests::example_config() +
                      "[kafka]\nbrokers = \"b:1\"\ntopic = \"t\"\n[kafka.librdkafka]\nsasl.password = \"hunter2\"\n");
  EXPECT_THAT(told, AllOf(HasSubstr("kafka.librdkafka.sasl"), Not(HasSubstr("hunter2"))));
}

struct Refused {
  std::string override_text;
  std::string key;
  std::string allowed;
  friend void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.override_text; }
};

class ConfigRefuses : public ::testing::TestWithParam<Refused> {};

TEST_P(ConfigRefuses, AValueOutsideItsRange) {
  EXPECT_THAT(refusal({GetParam().override_text}), AllOf(HasSubstr(GetParam().key), HasSubstr(GetParam().allowed)));
}

INSTANTIATE_TEST_SUITE_P(
    All, ConfigRefuses,
    ::testing::Values(
        Refused{"privacy.rho=0", "privacy.rho", "> 0"}, Refused{"privacy.rho=-1", "privacy.rho", ">= 0"},
        Refused{"privacy.delta=0", "privacy.delta", "0 < delta < 1"},
        Refused{"privacy.delta=1", "privacy.delta", "0 < delta < 1"},
        Refused{"privacy.unit=user", "privacy.unit", "not yet supported"},
        Refused{"noise.nu=1", "noise.nu", "nu < 1"}, Refused{"noise.nu=0", "noise.nu", "<= nu < 1 for a rational"},
        Refused{"noise.nu=nan", "noise.nu", "a number"},
        Refused{"noise.correlation=ratoinal", "noise.correlation", "'rational'"},
        Refused{"descent.clip_norm=0", "descent.clip_norm", "> 0"},
        Refused{"descent.clip_norm=inf", "descent.clip_norm", "finite"},
        Refused{"descent.clip_norm=\"2\"", "descent.clip_norm", "a number"},
        Refused{"descent.step_size=-1", "descent.step_size", "> 0"},
        Refused{"descent.minibatch=0", "descent.minibatch", "> 0"},
        Refused{"descent.start=[1.0]", "descent.start", "2 parameters"},
        Refused{"model.loss=liner", "model.loss", "'linear'"}, Refused{"model.loss=mean", "target", "no target"},
        Refused{"features.0.scale=0", "features.0.scale", "> 0"},
        Refused{"features.0.clamp=[1.0, 1.0]", "features.0.clamp", "lower < upper"},
        Refused{"features.0.transform=indicator", "features.0.equals", "missing"},
        Refused{"release.every=0", "release.every", "> 0"}, Refused{"stream.name=a/b", "stream.name", "slash"}));

TEST(Config, ATextThatIsNotTomlNamesTheLine) {
  EXPECT_THAT(refusal({}, "[stream\nname = 1\n"), AllOf(HasSubstr("example.toml:1:"), HasSubstr("not TOML")));
}

TEST(Config, AMissingFileIsAnInputFailure) {
  try {
    static_cast<void>(read_config("/nonexistent/nustream.toml", {}));
    FAIL() << "read a file that is not there";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), Exit::io);
  }
}

TEST(Mechanism, CalibratesFromEpsilonAsFromTheRhoItComesTo) {
  const Config by_rho = read({"privacy.rho=0.1"});
  const Mechanism from_rho = make_mechanism(by_rho, privacy::Participation::once());
  std::string text = tests::example_config();
  text.replace(text.find("rho = 0.5"), 9, "epsilon = 2.0");
  const Mechanism from_epsilon = make_mechanism(read({}, text), privacy::Participation::once());
  EXPECT_GT(from_epsilon.main().sigma.value(), 0);
  EXPECT_NEAR(from_rho.spend.limit().value(), 0.1, 1e-12);
}

/// What all stages come to by the definition, Σ sens²/(2σ²), each with the sensitivity of its own correlation.
double spent_by_definition(const Mechanism& mechanism, StepCount steps) {
  double sum = 0;
  for (const StageNoise& stage : mechanism.stages) {
    const double sensitivity = privacy::sensitivity(stage.correlation, steps, mechanism.participation).value();
    sum += sensitivity * sensitivity / (2 * stage.sigma.value() * stage.sigma.value());
  }
  return sum;
}

// The spend that is charged is that of the noise that is drawn, stage by stage, and its limit what was asked for.
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

// The fit to a descent takes the step size and the loss from their own sections, and needs no end.
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

// A resumed run must find the very same B: it is in the digest by its numbers, not by what it was fitted to.
TEST(SettingsDigest, HoldsTheCoefficientsOfAFit) {
  const auto fitted = [](const std::vector<std::string>& more) { return digest(optimised(more)); };
  EXPECT_EQ(fitted({}), fitted({}));
  EXPECT_EQ(fitted({"noise.dense=true"}), fitted({"noise.dense=true"}));
  EXPECT_NE(fitted({"noise.dense=true"}), fitted({"noise.dense=true", "noise.error=mean"}));
  EXPECT_NE(fitted({"noise.dense=true"}), fitted({"noise.dense=true", "noise.horizon=61"}));
  EXPECT_NE(fitted({}), fitted({"noise.bands=20"}));
  EXPECT_NE(fitted({"noise.poles=2"}), fitted({"noise.poles=3"}));
  // Nothing of the fit to the largest error is new at all bands: it is the column of nu = 0, given by its numbers.
  Config given = read(optimised({}));
  given.noise.correlation = noise::Correlation{noise::Strategy{
      noise::strategy_coefficients(noise::Correlation{noise::NuFtrl{Damping{0}, StepCount{60}}}, 60), StepCount{60}}};
  EXPECT_EQ(settings_digest(given, make_mechanism(given, privacy::Participation::once())), fitted({}));
  // One bit of one entry of a matrix.
  Config dense = read(optimised({"noise.dense=true"}));
  const auto rows = std::get<noise::Dense>(dense.noise.correlation.family()).rows();
  std::vector<double> changed(rows.begin(), rows.end());
  changed[100] = std::nextafter(changed[100], 2);
  dense.noise.correlation = noise::Correlation{noise::Dense(changed, 60, StepCount{60})};
  EXPECT_NE(settings_digest(dense, make_mechanism(dense, privacy::Participation::once())),
            fitted({"noise.dense=true"}));
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
  // Messages have no header line: there the columns count whatever `header` says.
  EXPECT_NE(digest({"stream.columns=[\"x\", \"y\"]"}), digest({"stream.columns=[\"y\", \"x\"]"}));
}

TEST(Nearest, CountsInsertionsDeletionsSubstitutionsAndSwaps) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("every", "evry"), 1u);
  EXPECT_EQ(edit_distance("ratoinal", "rational"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Nearest, IsSilentWhereNothingIsClose) {
  const std::vector<std::string> known{"rho", "delta"};
  EXPECT_EQ(did_you_mean("correlation", known), "");
  EXPECT_EQ(did_you_mean("dleta", known), " (did you mean 'delta'?)");
}

}  // namespace
}  // namespace nustream::config
