// A refusal says in which line the key stands, and what several sections decide together is refused when they are
// read and not when a run begins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config_reading.h"

namespace nustream::config {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string of_head = "[stream]\nname = \"door\"\ninput = \"in.csv\"\n";
const std::string of_columns = "[target]\ncolumn = \"y\"\n[[features]]\ncolumn = \"x\"\n";
const std::string of_descent = "[descent]\nstep_size = 0.01\nclip_norm = 2.0\n";
const std::string of_privacy = "[privacy]\nrho = 0.5\ndelta = 1e-6\n[noise]\nnu = 0.01\n";
const std::string of_kafka = "[kafka]\nbrokers = \"a:1\"\ntopic = \"in\"\n";

/// What is said of such a file, from the place on.
std::string told(const std::string& written) {
  const std::string line = refusal({}, written);
  const std::size_t at = line.find("example.toml");
  return at == std::string::npos ? line : line.substr(at);
}

TEST(Places, ANameThatIsTakenIsRefusedWhereItComesFrom) {
  const auto with = [](const std::string& feature) {
    return of_head + of_columns + "[[features]]\n" + feature + of_descent + of_privacy;
  };
  EXPECT_THAT(
      told(with("column = \"x\"\n")),
      AllOf(HasSubstr("example.toml:9:10: features.1.column = 'x': allowed is a feature whose name no other one "
                      "has ('x' is taken by features.0 at "),
            EndsWith("example.toml:6:1); set name")));
  EXPECT_THAT(told(with("name = \"x\"\ncolumn = \"z\"\n")),
              HasSubstr("example.toml:9:8: features.1.name = 'x': allowed is a name that no other feature has"));
  EXPECT_THAT(told(with("name = \"x\"\ncolumn = \"z\"\nhash = 2\n[[features]]\ncolumn = \"x\"\nhash = 2\n")),
              HasSubstr("example.toml:14:8: features.2.hash = 2: allowed is a feature whose name no other one has "
                        "('x#0' is taken by features.1 at "));
  EXPECT_THAT(told(with("column = \"intercept\"\n")), HasSubstr("('intercept' is taken by the model's constant)"));
}

// Where a key is missing, its section has a place.
TEST(Places, AKeyThatIsNotThereHasThePlaceOfItsSection) {
  EXPECT_THAT(told(of_head + of_columns + "[[features]]\ntransform = \"interaction\"\n" + of_descent + of_privacy),
              HasSubstr("example.toml:8:1: features.1.of: allowed is two terms"));
  EXPECT_THAT(told(of_head + of_columns + of_descent + of_privacy + "[intervals]\nkind = \"batch-means\"\n"),
              HasSubstr("example.toml:8:1: descent.average: allowed is \"tail\" where"));
  EXPECT_THAT(told(of_head + of_columns + of_descent + "projection = \"ball\"\n" + of_privacy),
              HasSubstr("example.toml:8:1: descent.radius is missing"));
  EXPECT_THAT(told(of_head + of_columns + "[model]\nestimator = \"moments\"\n" + of_privacy),
              HasSubstr("example.toml:9:13: model.estimator = 'moments': allowed is \"moments\" together with "
                        "[moments], where row_norm and residual_bound are required"));
}

// The name of a parameter is the key's own, and need not be said twice.
TEST(Places, ARangeIsToldOnce) {
  EXPECT_THAT(told(of_head + of_columns + of_descent + "projection = \"ball\"\nradius = -1\n" + of_privacy),
              EndsWith("example.toml:12:10: descent.radius = -1: allowed is a finite number > 0"));
  EXPECT_THAT(told(of_head + of_columns + of_descent + "horizon = 9\ncooldown = 0.5\ncooldown_to = 2\n" + of_privacy),
              EndsWith("example.toml:13:15: descent.cooldown_to = 2: allowed is a number with 0 <= number < 1"));
}

TEST(Places, OneNumberIsAllowedWhereSeveralAre) {
  EXPECT_THAT(refusal({"privacy.delta=\"1e-6\""}), EndsWith("allowed is a number or an array of numbers"));
  EXPECT_THAT(refusal({"features.0.clamp=\"a\""}), EndsWith("allowed is [lower, upper] with lower < upper"));
  EXPECT_THAT(refusal({"descent.start=3"}), EndsWith("allowed is an array of numbers"));
}

// To set a name to nothing is no way to leave it out. An empty group ended the process by a signal.
TEST(Places, ANameOfNothingIsRefused) {
  for (const char* const key : {"brokers", "topic", "group", "group_instance_id", "release_topic", "state_topic",
                                "ledger_topic", "dead_letter_topic", "model_topic", "user_topic"}) {
    const std::string setting = std::string("kafka.") + key + "=";
    EXPECT_THAT(refusal({"kafka.brokers=a:1", "kafka.topic=in", setting}),
                AllOf(HasSubstr(key), HasSubstr("not empty")));
  }
  EXPECT_THAT(refusal({"serve.public_token_file="}),
              HasSubstr("serve.public_token_file = '': allowed is a text that"));
}

TEST(Places, TopicsAreCalledAfterTheStream) {
  std::string written = of_head + of_columns + of_descent + of_privacy + of_kafka;
  written.replace(written.find("door"), 4, "my stream");
  EXPECT_THAT(told(written),
              HasSubstr("example.toml:2:8: stream.name = 'my stream': allowed is what topics may be called "
                        "after, since kafka.release_topic is not set, and 'my stream.releases' is no "));
  EXPECT_THAT(told(written + "release_topic = \"a b\"\n"),
              HasSubstr("kafka.release_topic = 'a b': allowed is a topic's name"));
}

// Files without a header, and messages, are read by these names alone.
TEST(Places, ColumnsHaveWhatIsRead) {
  const auto with = [](const std::string& more) {
    return told(of_head + more + of_columns + of_descent + of_privacy);
  };
  EXPECT_THAT(with("header = false\ncolumns = [\"a\", \"b\"]\n"),
              EndsWith("example.toml:5:11: stream.columns = [ 'a', 'b' ]: allowed is a name for each field of a "
                       "record, in their order: 'x', 'y' are read, and are not there"));
  EXPECT_THAT(with("header = false\ncolumns = [\"x\", \"Y\"]\n"),
              HasSubstr("'y' (did you mean 'Y'?) is read, and is not there"));
  EXPECT_THAT(with("header = false\ncolumns = [\"x\", \"x\", \"y\"]\n"),
              EndsWith("allowed is names that differ: 'x' is there 2 times, and is read"));
  EXPECT_THAT(with("header = false\ntime = \"when\"\ncolumns = [\"x\", \"y\"]\n"), HasSubstr("'when' is read"));
  EXPECT_EQ(with("header = false\ncolumns = [\"x\", \"z\", \"z\", \"y\"]\n"), "accepted");
  EXPECT_EQ(with("header = false\ntime = \"@timestamp\"\ncolumns = [\"x\", \"y\"]\n"), "accepted");
}

TEST(Places, ThereAreAsManyGuessesAsAPlanNeeds) {
  EXPECT_EQ(refusal({"plan.second_moment_eigenvalues=[1, 2]"}), "accepted");
  EXPECT_THAT(refusal({"plan.second_moment_eigenvalues=[1, 2, 3]"}),
              HasSubstr("allowed is one number for each of the 2 parameters, the intercept included: these are 3. "));
  EXPECT_THAT(
      refusal({"plan.second_moment_eigenvalues=[0.5, 0.5]", "first_stage.clip_norm=1"}, tests::two_stage_config("")),
      HasSubstr("of two stages one number from 0 to 1 for each of the 1 regressors"));
  EXPECT_THAT(refusal({"descent.projection=box", "descent.lower=[0, 0, 0]", "descent.upper=[1, 1, 1]"}),
              HasSubstr("descent.lower = [ 0, 0, 0 ]: allowed is 1 or 2 (the number of coefficients) bounds"));
}

// The place of what --set has made is told by its key alone, since a value may be a password.
TEST(Places, WhatWasTypedIsSaidToBeTyped) {
  EXPECT_THAT(refusal({"strem.name=x"}), HasSubstr("--set strem.name: strem: unknown key (did you mean 'stream'?)"));
  EXPECT_THAT(refusal({"weight.column=x"}), HasSubstr("--set weight.column: weight.max is missing; "));
  EXPECT_THAT(refusal({"kafka.librdkafka.sasl.password=hunter2", "kafka.brokers=a:1", "kafka.topic=t"}),
              AllOf(HasSubstr("--set kafka.librdkafka.sasl.password: kafka.librdkafka.sasl: allowed is "),
                    Not(HasSubstr("hunter2"))));
  EXPECT_THAT(refusal({"features.0.center=\"private\""}),
              HasSubstr("--set features.0.center: features.0.center = \"private\": "));
  EXPECT_THAT(refusal({}, of_head + of_columns + "center = \"private\"\n" + of_descent + of_privacy),
              HasSubstr("example.toml:8:10: features.0.center = \"private\": "));
}

TEST(Places, ATableIsShownInOneLine) {
  EXPECT_THAT(told(of_head + of_columns + "[exposure]\nmax = 3\ncolumn = \"z\"\n" + of_descent + of_privacy),
              HasSubstr("exposure = { column = 'z', max = 3 }: allowed is only with"));
}

TEST(Places, WhatIsAllowedIsAllThatIsAllowed) {
  EXPECT_THAT(refusal({"release.every=1.5"}),
              EndsWith("release.every = 1.5: allowed is a whole number of steps > 0"));
  EXPECT_THAT(refusal({"features.0.transform=\"product\""}), HasSubstr("day_of_week, interaction"));
  EXPECT_THAT(refusal({"target.transform=\"lag\""}), HasSubstr("allowed is one of identity, log, "));
}

// A file that cannot be read is named, and so is the key that names it.
TEST(Places, AStartThatCannotBeReadHasItsKey) {
  const std::string written = of_head + of_columns + of_descent + "start = \"nix.json\"\n" + of_privacy;
  const tests::TemporaryFolder folder;
  try {
    static_cast<void>(read_config(folder.write("example.toml", written), {}));
    ADD_FAILURE();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), Exit::io);
    EXPECT_THAT(failure.what(),
                AllOf(HasSubstr("example.toml:11:9: descent.start: "), HasSubstr("nix.json: cannot be")));
  }
}

// A stream needs ν, for which a table's settings are no excuse and no default.
TEST(Places, ATableIsNoStream) {
  const std::string written =
      of_head + of_columns + of_descent + "[privacy]\nrho = 0.5\ndelta = 1e-6\n[estimate]\nsteps = 10\n";
  EXPECT_THAT(told(written),
              AllOf(HasSubstr("example.toml:15:9: estimate.steps = 10: allowed is nothing for a stream"),
                    Not(HasSubstr("missing"))));
}

}  // namespace
}  // namespace nustream::config
