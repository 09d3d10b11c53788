// Records with line breaks inside quotation marks, whose owner vouches for the quotes: they are read, and everything
// that tells of the promise says what it trusts in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replay_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* trusted = "stream.framing=trusted";

/// The rows of the world behind a column of text, with line breaks in every third.
std::string with_notes(bool line_breaks) {
  const std::string rows = ReplayWorld::csv(500);
  std::string text;
  std::size_t row = 0;
  for (std::size_t at = 0; at < rows.size(); ++row) {
    const std::size_t end = rows.find('\n', at) + 1;
    const char* const note =
        row % 3 == 1 ? (line_breaks ? "\"one\ntwo \"\"x\"\"\r\n,\"" : "\"one two \"\"x\"\"  ,\"") : "none";
    text += (row == 0 ? "note" : note) + ("," + rows.substr(at, end - at));
    at = end;
  }
  return text;
}

TEST(TrustedFraming, ReadsWhatTheSameRecordsInOneLineEachHold) {
  const ReplayWorld world(500);
  world.write("rows.csv", with_notes(true));
  const std::vector<std::string> seeded{"--insecure-seed", "7", "--set", trusted};
  const CommandResult broken = world.run(seeded, "broken");
  ASSERT_EQ(broken.code, 0) << broken.err;
  world.write("rows.csv", with_notes(false));
  const CommandResult whole = world.run(seeded, "whole");
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(world.releases("broken"), world.releases("whole"));
  EXPECT_THAT(whole.out, HasSubstr("steps           500"));
  world.write("rows.csv", with_notes(true));
  const CommandResult untrusted = world.run({"--insecure-seed", "7"}, "untrusted");
  EXPECT_THAT(untrusted.out, Not(HasSubstr("steps           500")));
}

// A quotation mark that is never closed takes in all records behind it, and they are unusable records of nobody's
// count.
TEST(TrustedFraming, TellsTheOperatorWhereAQuoteTookInTheRecordsBehindIt) {
  const ReplayWorld world(500);
  std::string rows = "x,y,note\n";
  for (int i = 0; i < 400; ++i) rows += i == 100 ? "1,2,\"open\n" : "1,2,closed\n";
  world.write("rows.csv", rows);
  const std::string told = "line 102 of '";
  const std::string breaks = "' holds 300 line breaks: its quotation mark is never closed, and took in all lines";
  const CommandResult run = world.run({"--quiet", "--set", trusted});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("operator only, not private: the record at " + told), HasSubstr(breaks)));
  const CommandResult dry = run_command(NUSTREAM_COMMAND, {"check", world.config(), "--data", "--set", trusted});
  EXPECT_THAT(dry.out, AllOf(HasSubstr("line breaks     the record at " + told), HasSubstr(breaks)));
}

TEST(TrustedFraming, IsNamedWhereverThePromiseIs) {
  const ReplayWorld world(500);
  const std::string words = "trusting that records close their quotes";
  const std::string member = "\"framing\":\"trusted\"";
  const CommandResult result = world.run({"--set", trusted});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(words));
  EXPECT_THAT(world.releases(), HasSubstr(member));
  EXPECT_THAT(read_file(world.path("state/ledger")), HasSubstr(member));
  const std::string config = world.write(
      "inspected.toml", read_file(world.config()) + "[state]\ndirectory = \"" + world.path("state") + "\"\n");
  const CommandResult told = run_command(NUSTREAM_COMMAND, {"inspect", config});
  EXPECT_THAT(told.out, HasSubstr(words)) << told.err;
  EXPECT_THAT(run_command(NUSTREAM_COMMAND, {"inspect", config, "--json"}).out, HasSubstr(member));
  EXPECT_THAT(run_command(NUSTREAM_COMMAND, {"plan", world.config(), "--set", trusted}).out, HasSubstr(words));
  const CommandResult plain = world.run({}, "plain");
  EXPECT_THAT(plain.out + world.releases("plain") + read_file(world.path("plain/ledger")),
              AllOf(Not(HasSubstr(words)), Not(HasSubstr(member))));
}

TEST(TrustedFraming, IsAnotherSettingThanNone) {
  const ReplayWorld world(500);
  ASSERT_EQ(world.run({"--set", trusted}).code, 0);
  const CommandResult resumed = world.run({"--resume"});
  EXPECT_EQ(resumed.code, 65);
  EXPECT_THAT(resumed.err, HasSubstr("stream.framing"));
  // Lines and records have other numbers: nobody could tell which of them an epoch behind the other one reads again.
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--new-epoch"}, {"--new-epoch", "--from-start"}}) {
    const CommandResult epoch = world.run(more);
    EXPECT_EQ(epoch.code, 78);
    EXPECT_THAT(epoch.err, AllOf(HasSubstr("stream.framing"), HasSubstr("another state.directory")));
  }
}

// The delimiter and the longest record move the ends of records too.
TEST(TrustedFraming, AddsUpEpochsOfOtherSettings) {
  const ReplayWorld world(500);
  ASSERT_EQ(world.run({"--set", trusted}).code, 0);
  world.write("rows.csv", ReplayWorld::csv(900));
  ASSERT_EQ(world.run({"--set", trusted, "--set", "stream.record_bytes_max=1000", "--new-epoch"}).code, 0);
  EXPECT_THAT(read_file(world.path("state/ledger")), HasSubstr("\"disjoint\":\"unknown\""));
}

TEST(TrustedFraming, IsRefusedWhereItMakesNoSense) {
  const ReplayWorld world(10);
  const auto refused = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"--set", trusted};
    for (const std::string& setting : more) arguments.insert(arguments.end(), {"--set", setting});
    const CommandResult result = world.run(arguments);
    EXPECT_EQ(result.code, 78);
    return result.err;
  };
  EXPECT_THAT(refused({"stream.format=jsonl"}), HasSubstr("JSON has no line breaks"));
  EXPECT_THAT(refused({"stream.comment=#"}), HasSubstr("skip_lines"));
  EXPECT_THAT(refused({"privacy.account=people"}), HasSubstr("an account does not say"));
  EXPECT_THAT(refused({"stream.time=x", "stream.times_public=true"}), HasSubstr("framing = \"newline\""));
}

}  // namespace
}  // namespace nustream::tests
