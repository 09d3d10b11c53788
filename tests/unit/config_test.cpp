// Settings: what is read, what is refused, and what the refusal says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "config/advice.h"
#include "config/mechanism.h"
#include "config/nearest.h"
#include "config_reading.h"
#include "expect_failure.h"

namespace nustream::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Config, ReadsTheBundledExample) {
  const Config config = read_config(std::string(NUSTREAM_ROOT_DIR) + "/examples/retail/retail.toml", {});
  EXPECT_EQ(config.stream, "retail");
  EXPECT_EQ(config.descent.dimension, 2u);
  EXPECT_EQ(config.schema.features.at(0).name, "log(unit_price)");
  EXPECT_EQ(config.schema.target->center, 1.5);
  EXPECT_EQ(config.descent.averaging.from, 20000u);
  EXPECT_EQ(config.privacy.rho->value(), 0.05);
  EXPECT_EQ(config.privacy.budget->value(), 0.1);
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

// With fewer than 32 batches the verdict is never that a path has settled.
TEST(Advice, IsGivenWhereIntervalsHaveTooFewBatches) {
  const std::vector<std::string> asked{"intervals.kind=batch-means", "descent.average=tail"};
  const auto with = [&](std::string more) {
    std::vector<std::string> all = asked;
    all.push_back(std::move(more));
    return too_few_batches(read(all));
  };
  EXPECT_THAT(with("intervals.batches=31"), HasSubstr("intervals.batches = 31: fewer than 32 batches"));
  EXPECT_EQ(with("intervals.batches=32"), "");
  EXPECT_EQ(too_few_batches(read(asked)), "");
  EXPECT_EQ(too_few_batches(read({"intervals.batches=10"})), "");
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

// The places of key and witness change no iterate, so a resume may name other places.
TEST(Config, PlacesOfKeyAndWitnessAreNoPartOfTheDigest) {
  const auto digest = [](const Config& config) {
    return settings_digest(config, make_mechanism(config, privacy::Participation::once()));
  };
  const Config placed = read({"state.key_directory=keys", "state.witness=/var/lib/witness", "state.key_file=k"});
  EXPECT_EQ(placed.state.key_directory, "keys");
  EXPECT_EQ(placed.state.witness, "/var/lib/witness");
  EXPECT_EQ(digest(placed), digest(read({})));
  EXPECT_EQ(read({}).state.key_directory, "");
  EXPECT_EQ(read({}).state.witness, "");
}

TEST(Config, AnUnknownKeyNamesPlaceAndNearestKnownKey) {
  const std::string text = tests::example_config() + "\n[release]\nevry = 10\n";
  EXPECT_THAT(refusal({}, text),
              AllOf(HasSubstr("example.toml:28:8"), HasSubstr("release.evry"), HasSubstr("'every'")));
  EXPECT_THAT(refusal({"descent.clip_nrm=1"}), AllOf(HasSubstr("clip_nrm"), HasSubstr("'clip_norm'")));
  EXPECT_THAT(refusal({"privcy.rho=1"}), HasSubstr("'privacy'"));
}

// Where a required key is missing, a key of nearly its name is told with the refusal: it may be the one that was
// meant.
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

// A point without a digit is a text, as one that TOML cannot read is.
TEST(Config, AnOverrideOfAPointAloneIsAText) {
  EXPECT_EQ(read({"stream.decimal=."}).input.decimal, '.');
  EXPECT_THAT(refusal({"privacy.rho=."}), HasSubstr("privacy.rho"));
  EXPECT_THAT(refusal({"privacy.rho=.e5"}), HasSubstr("privacy.rho"));
  EXPECT_THAT(refusal({"privacy.rho=.5e"}), HasSubstr("privacy.rho"));
}

// Patterns match as in a shell. Only the order is another one: that of the bytes, on which no locale has an
// influence.
TEST(Config, APatternStandsForTheFilesThatMatchInTheOrderOfTheirBytes) {
  const tests::TemporaryFolder folder;
  for (const char* name : {"part-2.csv", "part-10.csv", "part-B.csv", "part-a.csv", "other.csv", "odd[1].csv"}) {
    folder.write(name, "x,y\n");
  }
  const std::string file = folder.write("example.toml", tests::example_config());
  const auto files_of = [&](const std::string& input) {
    std::vector<std::string> names;
    for (const std::string& path : read_config(file, {"stream.input=" + input}).input.files) {
      EXPECT_EQ(std::filesystem::path(path).parent_path(), folder.path());
      names.push_back(std::filesystem::path(path).filename());
    }
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(files_of("part-*.csv"), (Names{"part-10.csv", "part-2.csv", "part-B.csv", "part-a.csv"}));
  EXPECT_EQ(files_of("part-?.csv"), (Names{"part-2.csv", "part-B.csv", "part-a.csv"}));
  EXPECT_EQ(files_of("[\"other.csv\", \"part-[0-9].csv\"]"), (Names{"other.csv", "part-2.csv"}));
  EXPECT_EQ(files_of("odd[1].csv"), (Names{"odd[1].csv"})) << "a file that is called so is that file";
  try {
    static_cast<void>(files_of("none-*.csv"));
    ADD_FAILURE() << "no file matches";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), Exit::configuration);
    EXPECT_THAT(failure.what(), HasSubstr("a pattern that files match: none does '"));
  }
}

// In the patterns of glob(), ** stands for one level, as * does.
TEST(Config, APatternOfAllLevelsIsRefused) {
  const tests::TemporaryFolder folder;
  folder.write("a.csv", "x,y\n");
  const std::string file = folder.write("example.toml", tests::example_config());
  tests::expect_failure(
      Exit::configuration, [&] { static_cast<void>(read_config(file, {"stream.input=**/*.csv"})); },
      "a pattern without **, which would stand for one level of folders alone; name each level by itself, such as "
      "input = [\"*.csv\", \"*/*.csv\"]");
}

TEST(Config, SeveralDeltasAreToldAndTheFirstCalibrates) {
  const Config config = read({"privacy.delta=[1e-6, 1e-9]", "privacy.epsilon=.5"});
  EXPECT_EQ(config.privacy.delta, Delta{1e-6});
  EXPECT_EQ(config.privacy.deltas(), (std::vector{Delta{1e-6}, Delta{1e-9}}));
  EXPECT_EQ(read({"privacy.delta=1e-7"}).privacy.deltas(), std::vector{Delta{1e-7}});
  EXPECT_THAT(refusal({"privacy.delta=[1e-6, 1e-6]"}), HasSubstr("none of them twice"));
  EXPECT_THAT(refusal({"privacy.delta=[]"}), HasSubstr("up to 8 of them"));
  EXPECT_THAT(refusal({"privacy.delta=[1e-6, 2]"}), HasSubstr("0 < delta < 1"));
}

// An error shows what the file holds, but never as lines of its own.
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

// With one name for two topics, a record that cannot be used would leave on the release topic, or come back as input.
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
  const std::vector<std::string> of_users{"privacy.unit=user", "privacy.user=who", "users.participations=4",
                                          "kafka.model_topic=example.users"};
  EXPECT_THAT(refusal(of_users, kafka), AllOf(HasSubstr("kafka.model_topic"), HasSubstr("kafka.user_topic")));
  EXPECT_NO_THROW(static_cast<void>(read({"kafka.model_topic=example.users"}, kafka)));
  EXPECT_THAT(refusal({"kafka.topic=example.releases"}, kafka),
              AllOf(HasSubstr("kafka.topic = "), HasSubstr("not that of kafka.release_topic")));
  for (const std::string name : {"\"bad topic/name\"", "\"..\""}) {
    EXPECT_THAT(refusal({"kafka.topic=" + name}, kafka), HasSubstr("a topic's name: at most 249 letters"));
  }
  EXPECT_THAT(refusal({"kafka.release_topic=" + std::string(250, 'a')}, kafka), HasSubstr("a topic's name"));
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
        Refused{"privacy.unit=user", "privacy.user", "missing"}, Refused{"noise.nu=1", "noise.nu", "nu < 1"},
        Refused{"noise.nu=0", "noise.nu", "<= nu < 1 for a rational"},
        Refused{"noise.nu=nan", "noise.nu", "a finite number"},
        Refused{"descent.momentum=1", "descent.momentum", "0 <= momentum < 1"},
        Refused{"descent.momentum=-0.1", "descent.momentum", "0 <= momentum < 1"},
        Refused{"descent.cooldown=0.25", "descent.cooldown", "descent.horizon"},
        Refused{"descent.cooldown_to=0.1", "descent.cooldown_to", "only together"},
        Refused{"descent.horizon=0", "descent.horizon", "> 0"},
        Refused{"noise.correlation=ratoinal", "noise.correlation", "'rational'"},
        Refused{"descent.clip_norm=0", "descent.clip_norm", "> 0"},
        Refused{"descent.clip_norm=inf", "descent.clip_norm", "finite"},
        Refused{"descent.clip_norm=\"2\"", "descent.clip_norm", "a number"},
        Refused{"descent.step_size=-1", "descent.step_size", "> 0"},
        Refused{"descent.minibatch=0", "descent.minibatch", "> 0"},
        Refused{"descent.start=[1.0]", "descent.start", "2 parameters"},
        Refused{"descent.start.z=1.0", "descent.start", "it has no 'x'"},
        Refused{"descent.start.x=one", "descent.start.x", "a number"},
        Refused{"model.loss=liner", "model.loss", "'linear'"}, Refused{"model.loss=mean", "target", "no target"},
        Refused{"features.0.scale=0", "features.0.scale", "> 0"},
        Refused{"features.0.clamp=[1.0, 1.0]", "features.0.clamp", "lower < upper"},
        Refused{"features.0.transform=indicator", "features.0.equals", "missing"},
        Refused{"release.every=0", "release.every", "> 0"}, Refused{"stream.name=a/b", "stream.name", "slash"}));

// A setting without an end makes the noise as large, or the record as small: it would spend the budget on nothing.
TEST(Config, RefusesWhatIsNotFiniteByItsKey) {
  std::string all = tests::example_config();
  all += "[weight]\ncolumn = \"w\"\nmax = 5\n";
  for (const char* const key :
       {"features.0.center", "features.0.scale", "target.center", "target.scale",    "model.l2",
        "model.threshold",   "model.bandwidth",  "model.level",   "weight.max",      "descent.step_size",
        "descent.clip_norm", "descent.momentum", "privacy.rho",   "privacy.epsilon", "privacy.budget",
        "privacy.delta",     "intervals.level",  "plan.residual", "plan.distance",   "state.commit_seconds",
        "noise.nu"}) {
    for (const char* const value : {"inf", "-inf", "nan", "+inf"}) {
      EXPECT_THAT(refusal({std::string(key) + "=" + value}, all),
                  AllOf(HasSubstr(key), testing::ContainsRegex("finite|allowed is")))
          << key << " = " << value;
    }
  }
  EXPECT_THAT(refusal({"features.0.clamp=[nan, 1]"}, all), HasSubstr("features.0.clamp"));
  EXPECT_EQ(read({"features.0.clamp=[0, inf]"}).schema.features.at(0).upper, std::numeric_limits<double>::infinity())
      << "a clamp may have one side";
  EXPECT_THAT(refusal({"exposure.column=e", "exposure.max=inf", "model.loss=poisson"}), HasSubstr("exposure.max"));
  EXPECT_THAT(refusal({"descent.start=[inf, 0.0]"}), HasSubstr("descent.start"));
  EXPECT_THAT(refusal({"plan.second_moment_eigenvalues=[inf, 1.0]"}), HasSubstr("plan.second_moment_eigenvalues"));
}

TEST(Config, AKeyInQuotationMarksIsAnsweredWithTheOptionForIt) {
  const auto told = [](const std::string& key) {
    try {
      static_cast<void>(read({key + "=hunter2"}));
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), Exit::usage);
      return std::string(failure.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(told("kafka.librdkafka.\"ssl.key.password\""),
            "--set kafka.librdkafka.\"ssl.key.password\"=…: a key is written without quotation marks; a property of "
            "librdkafka is -X ssl.key.password=VALUE");
  EXPECT_EQ(told("stream.'name'"),
            "--set stream.'name'=…: a key is written without quotation marks, as section.key=value");
}

// With x centred at .5 and scaled by 2, y = 3 + 2x is y = 4 + 4 (x − .5)/2.
TEST(Config, AStartByNameIsInOriginalUnits) {
  EXPECT_EQ(read({"descent.start.x=2.0", "descent.start.intercept=3"}).descent.start,
            (std::vector<double>{4.0, 4.0}));
  EXPECT_EQ(read({"descent.start={x = 2.0}"}).descent.start, (std::vector<double>{1.0, 4.0})) << "an intercept of 0";
  EXPECT_THAT(refusal({"descent.start.x=1.0", "descent.start.z=1.0"}),
              HasSubstr("coefficients that the settings do not"));
}

TEST(Config, AStartFromAFileIsThatOfItsLastRelease) {
  const tests::TemporaryFolder folder;
  const auto line = [](const std::string& estimate, const std::string& rest) {
    return R"({"format":1,"stream":"s","lane":0,"epoch":0,"step":5,"position":5,"tag":"end","estimate":)" + estimate +
           R"(,"average":null,"rho":0.1,"rho_limit":0.1,"epsilon":1,"delta":1e-6,"conversion":"gaussian","digest":"d")" +
           rest + "}\n";
  };
  const std::string is_private = R"(,"adjacency":"zero-out","private":true)";
  const auto start = [&](const std::string& text) {
    return std::vector<std::string>{"descent.start=" + folder.write("releases", text)};
  };
  const std::string good = line(R"({"intercept":3,"x":2})", is_private);
  EXPECT_EQ(read(start(line(R"({"intercept":0,"x":9})", is_private) + good)).descent.start,
            (std::vector<double>{4.0, 4.0}));
  EXPECT_THAT(refusal(start(good + "{}\n")), HasSubstr("whose last line is a release"));
  EXPECT_THAT(refusal(start(line(R"({"w":1})", is_private))), HasSubstr("it has no 'x'"));
  EXPECT_THAT(refusal(start(line(R"({"x":1})", R"(,"private":false)"))), HasSubstr("that is private"));
  EXPECT_THAT(refusal(start(line(R"({"x":1})", R"(,"private":true,"protects":"target")"))),
              HasSubstr("protects whole records"));
  EXPECT_THAT(refusal(start("")), HasSubstr("whose last line is a release"));
  for (const char* name : {"nowhere.json", "/dev/zero", "/"}) {
    const std::string named = std::string("descent.start=") + name;
    tests::expect_failure(
        Exit::io, [&] { return read({named}); }, "name a file of releases");
  }
}

TEST(Config, ATextThatIsNotTomlNamesTheLine) {
  EXPECT_THAT(refusal({}, "[stream\nname = 1\n"), AllOf(HasSubstr("example.toml:1:"), HasSubstr("not TOML")));
}

// TOML has no number that begins with its point, while --set takes one.
TEST(Config, ANumberThatBeginsWithItsPointIsWrittenOut) {
  EXPECT_THAT(refusal({}, "[privacy]\nrho = .25  # a quarter\n"),
              AllOf(HasSubstr("example.toml:2:"), HasSubstr("; write 0.25 for .25")));
  EXPECT_THAT(refusal({}, "[privacy]\nrho = -.5\n"), HasSubstr("; write 0.5 for .5"));
  EXPECT_THAT(refusal({}, "[stream\nname = .5\n"), Not(HasSubstr("write")));
}

TEST(Config, AMissingFileIsAnInputFailure) {
  try {
    static_cast<void>(read_config("/nonexistent/nustream.toml", {}));
    FAIL() << "read a file that is not there";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), Exit::io);
  }
}

TEST(Nearest, CountsInsertionsDeletionsSubstitutionsAndSwaps) {
  EXPECT_EQ(config::edit_distance("", "abc"), 3u);
  EXPECT_EQ(config::edit_distance("every", "evry"), 1u);
  EXPECT_EQ(config::edit_distance("ratoinal", "rational"), 1u);
  EXPECT_EQ(config::edit_distance("kitten", "sitting"), 3u);
}

TEST(Nearest, IsSilentWhereNothingIsClose) {
  const std::vector<std::string> known{"rho", "delta"};
  EXPECT_EQ(config::did_you_mean("correlation", known), "");
  EXPECT_EQ(config::did_you_mean("dleta", known), " (did you mean 'delta'?)");
}

}  // namespace
}  // namespace nustream::config
