// The private count of clipped gradients through the command: what a release, a plan, an inspection and a summary
// say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <sstream>

#include "publish/release_json.h"
#include "replay_inspect.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// With so tight a clip norm that most gradients are clipped, and a share of ρ that shows it.
std::vector<std::string> counting(std::vector<std::string> more = {}) {
  more.insert(more.begin(),
              {"--set", "privacy.clipped_share=0.5", "--set", "privacy.rho=50", "--set", "descent.clip_norm=0.1"});
  return more;
}

publish::ShownRelease last_release(const std::string& releases) {
  std::istringstream lines(releases);
  std::optional<publish::ShownRelease> last;
  for (std::string line; std::getline(lines, line);) last = publish::read_release(line);
  return last.value();
}

TEST(ReplayCountsClipped, AndSaysSoWhereverItSaysWhatWasReleased) {
  const ReplayWorld world(5000);
  const CommandResult run = world.run(counting());
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("of records had a gradient that was clipped, after step 1600"));
  EXPECT_THAT(run.out, HasSubstr("larger clip_norm"));
  const publish::ShownRelease last = last_release(world.releases());
  ASSERT_TRUE(last.status.clipped);
  EXPECT_GT(last.status.clipped->share, 0.4);
  EXPECT_TRUE(last.status.clipped->is_large);
  EXPECT_EQ(last.status.clipped->since, 1600U);
  EXPECT_THAT(run_command(NUSTREAM_COMMAND, {"inspect", world.path("state")}).out,
              HasSubstr("of records had a gradient that was clipped, after step 1600"));

  std::vector<std::string> asked{"plan", world.config(), "--records", "5000"};
  for (const std::string& word : counting()) asked.push_back(word);
  EXPECT_THAT(run_command(NUSTREAM_COMMAND, asked).out,
              AllOf(HasSubstr("clipped gradients"), HasSubstr("the count of clipped gradients costs rho 25")));
  asked.emplace_back("--json");
  simdjson::dom::parser parser;
  const simdjson::dom::element plan = parser.parse(run_command(NUSTREAM_COMMAND, asked).out);
  const auto rows = plan["clipped"]["predicted"].get_array().value();
  EXPECT_NEAR(plan["clipped"]["rho"].get_double().value(), 25, 1e-9);
  EXPECT_EQ(rows.at(rows.size() - 1)["sd"].get_double().value(), last.status.clipped->stddev);
}

// Nothing is said of a count that nobody asked for.
TEST(ReplayCountsClipped, OnlyWhereItIsAskedFor) {
  const ReplayWorld world(1000);
  const CommandResult run = world.run({});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, Not(HasSubstr("were clipped after")));
  EXPECT_THAT(world.releases(), Not(HasSubstr("clipped")));
}

TEST(ReplayCountsClipped, TheSameThroughStops) {
  const ReplayWorld world(5000);
  ASSERT_EQ(world.run(counting({"--insecure-seed", "7"}), "whole").code, 0);
  ASSERT_EQ(world.run(counting({"--insecure-seed", "7", "--to", "1130"}), "parts").code, 0);
  ASSERT_EQ(world.run(counting({"--insecure-seed", "7", "--resume", "--to", "3450"}), "parts").code, 0);
  ASSERT_EQ(world.run(counting({"--insecure-seed", "7", "--resume"}), "parts").code, 0);
  EXPECT_THAT(world.releases("whole"), HasSubstr("\"clipped\":{\"share\":"));
  // A stop shows its own step, too, beside those of the unbroken run.
  std::istringstream lines(world.releases("whole"));
  const std::string parts = world.releases("parts");
  std::size_t found = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(",\"previous\"");
    found += parts.find(line.substr(0, at)) != std::string::npos ? 1U : 0U;
  }
  EXPECT_EQ(found, 50U);
  const CommandResult other = world.run({"--insecure-seed", "7", "--resume"}, "parts");
  EXPECT_EQ(other.code, 65);
  EXPECT_THAT(other.err, HasSubstr("privacy.clipped_share"));
}

// Of a table each record takes part in every step, and so does its 0 or 1.
TEST(ReplayCountsClipped, OverATableToo) {
  const ReplayWorld world(400);
  const std::string table = world.write("table.toml", read_file(world.config()) + "[estimate]\nsteps = 20\n");
  std::vector<std::string> arguments{"estimate",
                                     table,
                                     "--json",
                                     "--set",
                                     "state.directory=\"" + world.path("table") + "\"",
                                     "--set",
                                     "noise.correlation=independent",
                                     "--set",
                                     "release.every=1",
                                     "--set",
                                     "descent.average_from=5"};
  for (const std::string& word : counting()) arguments.push_back(word);
  const CommandResult run = run_command(NUSTREAM_COMMAND, arguments);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("\"clipped\":{\"share\":"));
  const publish::ShownRelease last = last_release(world.releases("table"));
  ASSERT_TRUE(last.status.clipped);
  EXPECT_EQ(last.status.clipped->since, 8U);
  EXPECT_NEAR(last.rho, 50, 1e-9);
}

}  // namespace
}  // namespace nustream::tests
