// `nustream check CONFIG --data`: a dry run over an input, and what check refuses before attach would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include <simdjson.h>

#include "command.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

constexpr const char* settings = R"([stream]
name = "dry"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "x"
[[features]]
column = "kind"
transform = "indicator"
equals = "new"
[model]
loss = "logistic"
[descent]
step_size = 0.01
clip_norm = 2.0
[privacy]
rho = 0.5
delta = 1e-6
[noise]
nu = 0.01
)";

class CheckData : public ::testing::Test {
 protected:
  CheckData() : config_(folder_.write("dry.toml", settings)) {}

  CommandResult check(Words more) const {
    more.insert(more.begin(), {"check", config_});
    return run_command(NUSTREAM_COMMAND, more);
  }
  void rows(const std::string& text) const { static_cast<void>(folder_.write("rows.csv", text)); }

  TemporaryFolder folder_;
  std::string config_;
};

// The key may be on another machine, so that settings are valid without it.
TEST_F(CheckData, WarnsWhereTheKeyIsNotThere) {
  const std::string key = (folder_.path() / "orders.key").string();
  const Words of_key{"--set", "state.key_file=\"" + key + "\""};
  const CommandResult missing = check(of_key);
  EXPECT_EQ(missing.code, 0) << missing.err;
  EXPECT_THAT(missing.out, HasSubstr("is not there: a run on this machine would be refused"));
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", key}).code, 0);
  EXPECT_THAT(check(of_key).out, Not(HasSubstr("is not there")));
}

// A table of running sums is one step, unless release.every says otherwise; how many records it has is known only
// once they are read. The sums of a user's rows are what is clipped: here those of a, whose x² add up to 4.5.
TEST_F(CheckData, LooksAtATableOfRunningSums) {
  const std::string table = folder_.write("table.toml", R"([stream]
name = "dry"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "x"
[model]
estimator = "moments"
intercept = false
[moments]
row_norm = 2.0
residual_bound = 2.0
[privacy]
rho = 0.5
delta = 1e-6
[estimate]
)");
  rows("x,who,y\n1.5,a,0\n1.5,b,0\n1.5,a,0\n");
  const auto check_table = [&](Words more) {
    more.insert(more.begin(), {"check", table, "--data"});
    return run_command(NUSTREAM_COMMAND, more);
  };
  EXPECT_THAT(check_table({}).out, HasSubstr("clipped         0 of 3 residuals (0%)"));
  const Words by_user{"--set", "privacy.unit=user", "--set", "privacy.user=who"};
  EXPECT_THAT(check_table(by_user).out, HasSubstr("clipped         1 of 2 contributions of users (50%)"));
  Words in_steps = by_user;
  in_steps.insert(in_steps.end(), {"--set", "release.every=2"});
  EXPECT_THAT(check_table(in_steps).out, HasSubstr("clipped         0 of 3 contributions of users (0%)"));
}

TEST_F(CheckData, ShowsWhatARunWouldMeetAndKeepsNothing) {
  rows("x,kind,y\n100,old,-1\n110,old,1\n120,old,1\n,old,1\n130,old,-1\n");
  const CommandResult result = check({"--data"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(
      result.out,
      AllOf(HasSubstr("dry.toml: valid; stream dry"),
            HasSubstr("\nNOT PRIVATE: what follows was read from the "
                      "data, without noise; it is for the operator "
                      "alone, and settings chosen by looking at it "
                      "are not covered by the promise\n"),
            HasSubstr("records         5 of "), HasSubstr("usable          2 (40%)\n"),
            HasSubstr("unusable        1 (20%): column 'x': empty; record 3 is one (line 5)\n"),
            HasSubstr("unusable        2 (40%): column 'y': not a label 0 … 1; record 0 is one (line 2: '-1')\n"),
            HasSubstr("clipped         2 of 2 gradients (100%) at theta = 0, where a run begins\n"),
            HasSubstr("refused labels  '-1' 2 times\n"), HasSubstr("kind=new: the text 'new' never occurs\n")));
  EXPECT_THAT(result.out, AllOf(HasSubstr("  x: 5% of it lies 120 working units or more from 0: give it a center and "
                                          "a scale that fit\n"),
                                HasSubstr("\nWhat nustream plan says"), HasSubstr("sigma ")));
  EXPECT_FALSE(std::filesystem::exists("runs/dry"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 2) << "nothing is kept";
}

TEST_F(CheckData, TellsOfClassesWithoutRecords) {
  rows("x,kind,y\n1,old,0\n2,new,0\n3,old,0\n");
  EXPECT_THAT(check({"--data"}).out,
              HasSubstr("labels          '0' 3 times\n                1 of the model's classes "
                        "never occur\n"));
  rows("x,kind,y\n1,old,0\n2,new,1\n");
  EXPECT_THAT(check({"--data"}).out, Not(HasSubstr("never occur\n")));
}

TEST_F(CheckData, ShowsNoClippingWhereNothingCanBeClipped) {
  rows("x,kind,y\nred,old,1\nblue,new,0\n");
  EXPECT_THAT(check({"--data"}).out, AllOf(HasSubstr("usable          0 (0%)\n"), Not(HasSubstr("clipped"))));
}

TEST_F(CheckData, ShowsWeightsAndExposuresAsItShowsFeatures) {
  rows("x,kind,y,n,days\n1,new,1,0,2\n2,old,0,0,8\n3,new,1,0,9\n");
  const Words weight{"--set", "weight.column=n", "--set", "weight.max=5"};
  Words text = weight;
  text.insert(text.begin(), "--data");
  EXPECT_THAT(check(text).out, AllOf(HasSubstr("\nn (weight)  "),
                                     HasSubstr("  n (weight): it is 0 in every record: no record counts, and what is "
                                               "released is noise alone\n")));
  Words json = text;
  json.insert(json.end(),
              {"--json", "--set", "model.loss=poisson", "--set", "exposure.column=days", "--set", "exposure.max=8"});
  const CommandResult result = check(json);
  ASSERT_EQ(result.code, 0) << result.err;
  simdjson::dom::parser parser;
  const simdjson::dom::element data = parser.parse(result.out)["data"];
  EXPECT_EQ(data["columns"].get_array().size(), 2U) << "neither is a feature";
  EXPECT_EQ(std::string(data["weight"]["name"]), "n");
  EXPECT_EQ(double(data["weight"]["largest"]), 0);
  EXPECT_EQ(std::string(data["exposure"]["name"]), "days");
  EXPECT_EQ(double(data["exposure"]["smallest"]), 2);
  EXPECT_EQ(double(data["exposure"]["largest"]), 8) << "a longer one counts as the longest";
  EXPECT_EQ(std::uint64_t(data["exposure"]["at_bounds"]), 2U);
}

// A count has neither center nor scale, so that neither is advised.
TEST_F(CheckData, AdvisesOfATargetWhatItsLossAllows) {
  rows("x,kind,y\n1,new,100\n2,old,140\n3,new,120\n");
  EXPECT_THAT(check({"--data", "--set", "model.loss=linear"}).out, HasSubstr("give the target a center and a scale"));
  EXPECT_THAT(check({"--data", "--set", "model.loss=poisson"}).out,
              AllOf(HasSubstr("descent.clip_norm has to fit it"), Not(HasSubstr("give the target a center"))));
}

TEST_F(CheckData, ItsJsonHoldsTheSame) {
  rows("x,kind,y\n100,old,-1\n110,new,1\n");
  const CommandResult result = check({"--data", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(result.out);
  EXPECT_TRUE(bool(json["valid"]));
  EXPECT_FALSE(bool(json["data"]["private"]));
  EXPECT_EQ(std::uint64_t(json["data"]["usable"]), 1U);
  EXPECT_EQ(std::string(json["data"]["refused_labels"].at(0)["text"]), "-1");
  EXPECT_GT(double(json["plan"]["sigma"]), 0);
}

TEST_F(CheckData, TakesFilesAndANumberOfRecords) {
  rows("x,kind,y\n1,new,1\n2,new,0\n3,new,0\n");
  const std::string other = folder_.write("other.csv", "x,kind,y\n7,new,1\n");
  EXPECT_THAT(check({"--data", "--records", "2"}).out, HasSubstr("records         2 of the first of "));
  EXPECT_THAT(check({"--data", other}).out, HasSubstr("records         1 of " + other));
  EXPECT_EQ(check({other}).code, 64) << "records are read for --data alone";
  EXPECT_EQ(check({"--records", "2"}).code, 64);
}

TEST_F(CheckData, ShowsTheHeaderThatLacksAColumn) {
  rows("alice,1,0\n");
  const CommandResult result = check({"--data"});
  EXPECT_EQ(result.code, 78);
  EXPECT_THAT(result.err, HasSubstr("no columns 'x', 'kind', 'y' in the header of '"));
  EXPECT_THAT(result.err, HasSubstr("whose columns are 'alice', '1', '0'"));
  const CommandResult replay = run_command(NUSTREAM_COMMAND, {"replay", config_, "--set", "state.directory=none"});
  EXPECT_THAT(replay.err, Not(HasSubstr("alice")));
}

TEST_F(CheckData, MinUsableIsAnExitCodeForScripts) {
  rows("x,kind,y\n1,new,1\n2,new,0\n3,new,7\n");
  EXPECT_EQ(check({"--data", "--min-usable", "0.6"}).code, 0);
  const CommandResult result = check({"--data", "--min-usable", "0.7"});
  EXPECT_EQ(result.code, 66);
  EXPECT_EQ(result.err, "nustream: of the records 66.7% can be used, less than --min-usable 0.7\n");
}

TEST_F(CheckData, ATableIsLookedAtLikewise) {
  rows("x,kind,y\n1,new,1\n2,new,0\n3,new,7\n");
  const std::string table =
      folder_.write("table.toml", std::string(settings).substr(0, std::string(settings).find("[noise]")) +
                                      "[estimate]\nsteps = 10\n");
  const CommandResult result = run_command(NUSTREAM_COMMAND, {"check", table, "--data", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(result.out);
  EXPECT_EQ(std::uint64_t(json["data"]["usable"]), 2U);
  EXPECT_EQ(std::uint64_t(json["plan"]["steps"]), 10U);
}

/// The dry run where settings are measured first: there is nothing to compare with them yet.
class CheckDataToMeasure : public CheckData {
 protected:
  CommandResult check_measured(const Words& keys, Words more = {}) const {
    Words words{"--data"};
    for (const std::string& key : keys) {
      words.insert(words.end(), {"--set", key + "=private"});
    }
    words.insert(words.end(), more.begin(), more.end());
    return check(words);
  }
  /// Without the indicator: where there is one, no setting of a feature is measured.
  static constexpr const char* one_feature =
      "features=[{column=\"x\", center=\"private\", scale=\"private\", "
      "clamp=\"private\"}]";
};

TEST_F(CheckDataToMeasure, ShowsWhatDoesNotDependOnThem) {
  rows("x,kind,y\n100,old,-1\n110,old,1\n120,old,1\n,old,1\n130,old,-1\n");
  const CommandResult result = check_measured({"descent.clip_norm"}, {"--set", one_feature});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(
      result.out,
      AllOf(
          HasSubstr(config_ + ": valid; 2 parameters, 4 settings to be measured\n"),
          HasSubstr("\nNOT PRIVATE: what follows was read from the data, without noise; it is for the operator "
                    "alone, and settings chosen by looking at it are not covered by the promise\n"),
          HasSubstr("\nusable          2 (40%)\n"),
          HasSubstr("\nunusable        1 (20%): column 'x': empty; record 3 is one (line 5)\n"),
          HasSubstr("\nunusable        2 (40%): column 'y': not a label 0 … 1; record 0 is one (line 2: '-1')\n"),
          HasSubstr("\nmeasured first  features.0.center, features.0.scale, features.0.clamp, descent.clip_norm: "
                    "they are \"private\", and a run measures them first, so that what would be clipped is not known "
                    "yet, nor what depends on a measured center, scale or clamp\n"),
          HasSubstr("\nrefused labels  '-1' 2 times\n"),
          HasSubstr("\nx                     private    private |        110        110        110        120        "
                    "120        115      7.071\n")));
  EXPECT_THAT(result.out, AllOf(Not(HasSubstr("clipped  ")), Not(HasSubstr("working units"))));
  EXPECT_THAT(result.out, AllOf(HasSubstr("\nWhat nustream plan says, of the settings and so many records:\n"),
                                HasSubstr("rho 0.5 in all: 0.1 of it (ranges.share = 0.2) for what is measured"),
                                HasSubstr("5 records are too few for that: ")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 2) << "nothing is kept";
}

// What is a number is compared as always.
TEST_F(CheckDataToMeasure, ComparesWithNumbersThatAreThere) {
  rows("x,kind,y\n100,old,0\n110,old,1\n");
  EXPECT_THAT(
      check_measured({"descent.clip_norm"}).out,
      AllOf(HasSubstr("\nmeasured first  descent.clip_norm: it is \"private\", and a run measures it first, so "
                      "that what would be clipped is not known yet\n"),
            HasSubstr("  x: 5% of it lies 110 working units or more from 0: "),
            HasSubstr("  kind=new: the text 'new' never occurs\n"), Not(HasSubstr("\nclipped "))));
  EXPECT_THAT(
      check_measured({"descent.step_size", "noise.nu"}).out,
      AllOf(HasSubstr("\nmeasured first  descent.step_size, noise.nu: they are \"private\", and a run measures "
                      "them first; nothing here depends on them\n"),
            HasSubstr("\nclipped         2 of 2 gradients (100%) at theta = 0, where a run begins\n")));
}

TEST_F(CheckDataToMeasure, ItsJsonHoldsTheSame) {
  rows("x,kind,y\n100,old,-1\n110,new,1\n");
  const CommandResult result =
      check_measured({"descent.clip_norm"}, {"--set", one_feature, "--json", "--records", "2"});
  EXPECT_EQ(result.code, 0) << result.err;
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(result.out);
  const simdjson::dom::element data = json["data"];
  EXPECT_TRUE(bool(json["valid"]));
  EXPECT_FALSE(bool(data["private"]));
  EXPECT_EQ(std::uint64_t(data["usable"]), 1U);
  EXPECT_EQ(data["measured_first"].get_array().size(), 4U);
  EXPECT_THAT(std::string(data["measured_note"]), HasSubstr("a run measures them first"));
  for (const char* unknown : {"start", "gradients", "clipped"}) EXPECT_TRUE(data[unknown].error()) << unknown;
  const simdjson::dom::element x = data["columns"].at(0);
  EXPECT_EQ(double(x["median"]), 110);
  for (const char* unknown : {"center", "scale", "at_bounds"}) EXPECT_TRUE(x[unknown].error()) << unknown;
  EXPECT_EQ(double(json["plan"]["rho_ranges"]), 0.1);
  EXPECT_TRUE(json["plan"]["too_few"].error()) << "how many records the whole input has is not known here";
}

// Of running sums, and of a table.
TEST_F(CheckDataToMeasure, EveryKindOfRunIsLookedAt) {
  rows("x,kind,y\n1,new,1\n2,old,0\n3,old,1\n");
  const std::string linear = std::string(settings).replace(std::string(settings).find("logistic"), 8, "linear");
  const Words sums{"--set", "model.estimator=moments",        "--set", "moments.row_norm=private",
                   "--set", "moments.residual_bound=private", "--set", "target.center=private"};
  for (const std::string& more : {std::string(), std::string("[estimate]\n")}) {
    const std::string file = folder_.write("sums.toml", linear.substr(0, linear.find("[noise]")) + more);
    Words words{"check", file, "--data"};
    words.insert(words.end(), sums.begin(), sums.end());
    const CommandResult result = run_command(NUSTREAM_COMMAND, words);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, AllOf(HasSubstr("\nusable          3 (100%)\n"), HasSubstr("\nmeasured first  "),
                                  HasSubstr("\ny (target)            private          1 |          0"),
                                  Not(HasSubstr("\nclipped  "))));
  }
}

// The plan tells it, as it does for settings that are numbers.
TEST_F(CheckDataToMeasure, WarnsOfALargeDelta) {
  std::string text = "x,kind,y\n";
  for (int i = 0; i < 2000; ++i) text += "1,new,1\n";
  rows(text);
  EXPECT_THAT(check_measured({"descent.clip_norm"}, {"--set", "privacy.delta=0.01"}).out,
              HasSubstr("\nprivacy.delta = 0.01 is far above 1/n of 2000 records: "));
}

TEST_F(CheckDataToMeasure, SaysWhatARunOfNothingUsableWouldCost) {
  rows("x,kind,y\none,new,1\n");
  const CommandResult result = check_measured({"descent.clip_norm"});
  EXPECT_EQ(result.code, 66);
  EXPECT_EQ(
      result.err,
      "nustream: no record can be used: a run would spend ranges.share = 0.2 of its rho on measuring noise, and "
      "stop; nothing was charged here\n");
}

// check refuses what attach would refuse before it asks a broker.
TEST_F(CheckData, RefusesWhatAttachWould) {
  rows("x,kind,y\n1,new,1\n");
  const auto refused = [&](Words more, const std::string& part) {
    more.insert(more.begin(), {"-b", "localhost:1", "-t", "topic", "--set", "stream.header=false", "--set",
                               "stream.columns=[\"x\",\"kind\",\"y\"]"});
    const CommandResult result = check(more);
    EXPECT_EQ(result.code, 78) << result.out;
    EXPECT_THAT(result.err, HasSubstr(part));
  };
  refused({"-X", "sesion.timeout.ms=1"}, "-X sesion.timeout.ms does not exist (did you mean 'session.timeout.ms'?)");
  refused({"-X", "enable.auto.commit=true"}, "-X enable.auto.commit cannot be changed");
  refused({"-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanism=NONE-SUCH"},
          ".toml with -X sasl.mechanism, -X security.protocol: kafka: the client library refuses its properties: "
          "Unsupported SASL mechanism: NONE-SUCH");
  refused({"-X", "fetch.max.bytes=1000", "-X", "message.max.bytes=20000"},
          "nustream: error: -X fetch.max.bytes, -X message.max.bytes: kafka: the client library refuses its ");
  refused({"--set", "kafka.drain_seconds=100000"}, "kafka.drain_seconds");
  refused({"--set", "descent.minibatch=1000000"}, "descent.minibatch = 1000000 is larger than state.commit_records");
}

}  // namespace
}  // namespace nustream::tests
