// What somebody is told of settings and records that do not fit, word by word, before anything is charged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "first_contact_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ToldTexts : public FirstContact {};

Words followed_by(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// No record is read for that. Every command says the same, and where the column was named.
TEST_F(ToldTexts, APointerThatIsNoneIsRefusedWithItsPlace) {
  write("in.jsonl", lines_of(30, [](int i) { return R"({"x":1,"y":)" + std::to_string(i) + "}"; }));
  const Words of_json{"--set", "stream.format=jsonl", "--set", "stream.input=in.jsonl"};
  const std::pair<std::string, std::string> none[] = {
      {"/", "this one names no member: write the way to it, such as /payload/after/x"},
      {"/a~2b", "a ~ in it is written ~0, a slash in a name ~1"}};
  for (const auto& [column, why] : none) {
    const Words of_pointer = followed_by(of_json, {"--set", "features.0.column=" + column});
    for (const auto& [command, more] : {std::pair<const char*, Words>{"check", {}},
                                        {"check", {"--data"}},
                                        {"replay", {}},
                                        {"estimate", {"--set", "estimate.steps=10"}}}) {
      SCOPED_TRACE(std::string(command) + " of " + column);
      const CommandResult refused = run(command, followed_by(of_pointer, more));
      EXPECT_EQ(refused.code, 78);
      EXPECT_EQ(refused.err, "nustream: error: --set features.0.column=" + column + ": features.0.column = '" +
                                 column + "': allowed is a JSON pointer where the name begins with a slash, and " +
                                 why + "\n");
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "state"));
}

// Wherever a configuration names a column, its line and column are told.
TEST_F(ToldTexts, APointerThatIsNoneIsRefusedWithItsLine) {
  const std::string head = "[stream]\nname = \"door\"\ninput = \"in.jsonl\"\nformat = \"jsonl\"\n";
  const std::string tail =
      "[descent]\nstep_size = 0.01\nclip_norm = 2.0\n[noise]\nnu = 0.01\n[privacy]\nrho = 0.5\ndelta = 1e-6\n";
  const std::string target = "[target]\ncolumn = \"y\"\n";
  const std::string feature = "[[features]]\ncolumn = \"x\"\n";
  const std::string of = "[[features]]\ntransform = \"interaction\"\nof = [{column = \"x\"}, {column = \"/\"}]\n";
  const std::tuple<std::string, const char*, const char*> wrong[] = {
      {head + target + "[[features]]\ncolumn = \"/\"\n" + tail, "8:10", "features.0.column"},
      {head + target + "[[features]]\ncolumn = \"/\"\nhash = 4\n" + tail, "8:10", "features.0.column"},
      {head + target + of + tail, "9:33", "features.0.of.1.column"},
      {head + "[target]\ncolumn = \"/\"\n" + feature + tail, "6:10", "target.column"},
      {head + "time = \"/\"\n" + target + feature + tail, "5:8", "stream.time"},
      {head + target + feature + tail + "[weight]\ncolumn = \"/\"\nmax = 2\n", "18:10", "weight.column"},
      {head + target + feature + tail + "unit = \"user\"\nuser = \"/\"\n", "18:8", "privacy.user"}};
  for (const auto& [text, place, key] : wrong) {
    SCOPED_TRACE(text);
    const std::string file = write("wrong.toml", text);
    const CommandResult refused = run_command(NUSTREAM_COMMAND, {"check", file});
    EXPECT_EQ(refused.code, 78) << refused.out;
    EXPECT_THAT(refused.err, HasSubstr(file + ":" + place + ": " + key + " = '/': allowed is a JSON pointer where"));
  }
  EXPECT_EQ(run_command(NUSTREAM_COMMAND, {"check", write("right.toml", head + target + feature + tail)}).code, 0);
}

// The value is never told, which may be a password.
TEST_F(ToldTexts, APropertyThatIsRefusedIsRefusedWithItsPlace) {
  const std::string key = (folder_.path() / "key").string();
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", key}).code, 0);
  const std::string begin = std::string(door_settings) + "[state]\nkey_file = \"" + key +
                            "\"\n[kafka]\nbrokers = \"127.0.0.1:1\"\ntopic = \"door\"\n";
  const auto told = [&](const std::string& more, const Words& arguments, int code = 78) {
    Words words{"check", write("kafka.toml", begin + more), "--set", "stream.header=false",
                "--set", R"(stream.columns=["x","y"])"};
    const CommandResult refused = run_command(NUSTREAM_COMMAND, followed_by(words, arguments));
    EXPECT_EQ(refused.code, code) << refused.out;
    EXPECT_THAT(refused.err, Not(HasSubstr("hunter2")));
    return refused.err;
  };
  const std::string file = "nustream: error: " + (folder_.path() / "kafka.toml").string();
  const std::string advice = "; correct it, or take it out\n";
  EXPECT_EQ(told("[kafka.librdkafka]\nacks = \"1\"\n", {}),
            file + ":22:8: kafka.librdkafka.acks cannot be changed: it has to be all" + advice);
  EXPECT_EQ(told("[kafka.librdkafka]\n\"group.id\" = \"1\"\n", {}),
            file + ":22:14: kafka.librdkafka.\"group.id\" cannot be changed: set kafka.group" + advice);
  EXPECT_EQ(told("[kafka.librdkafka]\n\"sasl.pasword\" = \"hunter2\"\n", {}),
            file + ":22:18: kafka.librdkafka.\"sasl.pasword\" does not exist" + advice);
  EXPECT_EQ(told("", {"--set", "kafka.librdkafka.pasword=hunter2"}),
            "nustream: error: --set kafka.librdkafka.pasword does not exist" + advice);
  EXPECT_EQ(told("[kafka.librdkafka]\nacks = \"1\"\n", {"-X", "acks=hunter2"}),
            "nustream: error: -X acks cannot be changed: it has to be all" + advice);
  EXPECT_THAT(told("transaction_seconds = 0.5\n", {}),
              HasSubstr(file + ":21:23: kafka.transaction_seconds cannot be set: "));
  EXPECT_THAT(told("oauth_token_file = \"/nowhere\"\n", {}),
              HasSubstr(file + ":21:20: kafka.oauth_token_file needs kafka.librdkafka.\"sasl.mechanism\""));
  EXPECT_EQ(
      told("[kafka.librdkafka]\n\"sasl.password_file\" = \"/nowhere\"\n", {}, 77),
      file +
          ":22:24: kafka.librdkafka.\"sasl.password_file\" names a file that cannot be used: cannot open secret "
          "file /nowhere: No such file or directory; check path and owner\n");
}

// Who resumes under other guesses is told of them, although no state knows them.
TEST_F(ToldTexts, AGuessThatChangedTheChoiceOfAutoIsNamed) {
  write("in.csv", "x,y\n" + lines_of(400, [](int i) { return std::to_string(i % 3) + "," + std::to_string(i % 2); }));
  const std::string file = write("auto.toml", R"([stream]
name = "auto"
input = "in.csv"
[target]
column = "y"
[[features]]
column = "x"
[model]
estimator = "auto"
[privacy]
rho = 1
delta = 1e-6
[plan]
records = 400
residual = 0.5
distance = 3
[release]
every = 100
)");
  const std::string state = "state.directory=" + (folder_.path() / "auto").string();
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"replay", file, "--quiet", "--set", state}).code, 0);
  const CommandResult resumed =
      run_command(NUSTREAM_COMMAND, {"replay", file, "--resume", "--set", state, "--set", "plan.residual=2"});
  EXPECT_EQ(resumed.code, 65);
  EXPECT_THAT(resumed.err,
              AllOf(HasSubstr("moments.residual_bound"), HasSubstr("; model.estimator = \"auto\" has chosen "),
                    HasSubstr(" by plan.records = 400, plan.residual = 2, plan.distance = 3 and release.every = 100: "
                              "one of these, or of the other settings, was another there; resume with")));
}

TEST_F(ToldTexts, AFolderIsNoConfiguration) {
  write("in.csv", "x,y\n" + lines_of(40, [](int i) { return std::to_string(i % 3) + ",1"; }));
  ASSERT_EQ(run("replay", {"--quiet"}).code, 0);
  const std::string state = (folder_.path() / "state").string();
  const auto told = [&](const Words& words) {
    const CommandResult refused = run_command(NUSTREAM_COMMAND, words);
    EXPECT_EQ(refused.code, 74);
    return refused.err;
  };
  EXPECT_EQ(told({"solve", state}),
            "nustream: error: " + state +
                ": is a folder, and solve takes the configuration that releases were made with: "
                "nustream solve CONFIG --release " +
                state + "/releases.jsonl\n");
  EXPECT_THAT(
      told({"solve", config_, "--set", "model.estimator=moments", "--set", "moments.row_norm=2", "--set",
            "moments.residual_bound=2", "--release", state}),
      HasSubstr(state + ": is a folder; name the file of releases in it: --release " + state + "/releases.jsonl\n"));
  EXPECT_EQ(told({"replay", state}), "nustream: error: " + state +
                                         ": is a state folder, and no configuration (TOML): nustream inspect " +
                                         state + " shows what is in it\n");
}

// A number is not what is missing there. Each way to read a text says so, and a target that is a number says its own.
TEST_F(ToldTexts, NullWhereATextIsWantedIsNoText) {
  write("in.jsonl", R"({"kind":"new","town":"a","colour":"red","y":1}
{"kind":null,"town":"a","colour":"red","y":1}
{"kind":["a"],"town":"a","colour":"red","y":1}
{"kind":"old","town":{"a":1},"colour":"red","y":1}
{"kind":"old","town":"a","colour":null,"y":1}
{"town":"a","colour":"red","y":1}
{"kind":"old","town":"b","colour":"green","y":null}
{"kind":"old","town":"b","colour":"green","y":2}
)");
  const Words texts{"--set",
                    "stream.format=jsonl",
                    "--set",
                    "stream.input=in.jsonl",
                    "--set",
                    R"(features=[{column="kind",transform="indicator",equals="new"},{column="town",hash=2},)"
                    R"({column="colour",one_hot=["red"],other=true}])"};
  const std::string no_text = "not a text, but null, an object or an array; record ";
  EXPECT_THAT(
      check(texts).out,
      AllOf(HasSubstr("usable          2 (25%)\n"),
            HasSubstr("unusable        2 (25%): column 'kind': " + no_text + "1 is one (line 2: 'null')\n"),
            HasSubstr("unusable        1 (12.5%): column 'town': " + no_text + "3 is one (line 4: "),
            HasSubstr("unusable        1 (12.5%): column 'colour': " + no_text + "4 is one (line 5: 'null')\n"),
            HasSubstr("unusable        1 (12.5%): column 'kind': missing; record 5 is one (line 6)\n"),
            HasSubstr("unusable        1 (12.5%): column 'y': not a number; record 6 is one (line 7: 'null')\n")));
}

// The service says it before it asks a broker, of the number of records that the settings expect.
TEST_F(ToldTexts, ALargeDeltaIsWarnedOfAtTheStartOfTheService) {
  const std::string key = (folder_.path() / "key").string();
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", key}).code, 0);
  const auto attached = [&](const std::string& records) {
    return run_command(NUSTREAM_COMMAND, {"attach", config_,
                                          "-b",     "127.0.0.1:1",
                                          "-t",     "door",
                                          "--set",  "kafka.give_up_seconds=1",
                                          "--set",  "stream.header=false",
                                          "--set",  R"(stream.columns=["x","y"])",
                                          "--set",  "state.key_file=\"" + key + "\"",
                                          "--set",  "serve.public_address=\"\"",
                                          "--set",  "serve.operator_address=\"\"",
                                          "--set",  "serve.operator_token_file=none",
                                          "--set",  "log.format=plain",
                                          "--set",  "privacy.delta=0.01",
                                          "--set",  "plan.records=" + records});
  };
  const CommandResult large = attached("2000");
  EXPECT_EQ(large.code, 69) << large.err;
  EXPECT_THAT(large.err, HasSubstr("nustream: warning: privacy.delta = 0.01 is far above 1/n of 2000 records: "));
  EXPECT_THAT(attached("1000").err, Not(HasSubstr("far above")));
}

}  // namespace
}  // namespace nustream::tests
