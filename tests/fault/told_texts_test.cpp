// What somebody is told of settings and records that do not fit, word by word, before anything is charged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
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

// No record is read for that. Every command says the same, and in which file the column stands.
TEST_F(ToldTexts, APointerThatIsNoneIsRefusedWithTheFilesName) {
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
      EXPECT_EQ(refused.err, "nustream: error: " + config_ + ": column '" + column +
                                 "': a name that begins with a slash is a JSON pointer, and " + why + "\n");
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "state"));
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
