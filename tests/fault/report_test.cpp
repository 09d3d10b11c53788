// --report of replay and estimate: one file that holds what was released, and nothing that must not be shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "estimate_world.h"
#include "publish/release_json.h"
#include "release_text.h"
#include "replay_world.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

publish::ShownRelease last_of(const std::string& releases) {
  const std::size_t begin = releases.rfind('\n', releases.size() - 2);
  return publish::read_release(releases.substr(begin == std::string::npos ? 0 : begin + 1)).value();
}

std::size_t count_of(const std::string& what, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(Report, HoldsTheLastReleaseAndItsCost) {
  const ReplayWorld world;
  const std::string file = world.path("report.html");
  const CommandResult result = world.run({"--report", file});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string page = read_file(file);
  const publish::ShownRelease last = last_of(world.releases());
  for (const auto& [name, value] : last.estimate) EXPECT_THAT(page, HasSubstr(exact(value))) << name;
  for (const auto& [name, value] : last.average) EXPECT_THAT(page, HasSubstr(exact(value))) << name;
  EXPECT_THAT(page, HasSubstr("ρ " + exact(last.rho)));
  EXPECT_THAT(page, HasSubstr("ε " + exact(last.epsilon)));
  EXPECT_THAT(page, HasSubstr("Linear regression of y on x."));
  EXPECT_THAT(page, HasSubstr("As published at step 2,000."));
  EXPECT_EQ(count_of("<svg class=\"chart\"", page), 3U) << "two coefficients, and the spend by age";
}

TEST(Report, RefersToNothingAndHidesPlacesAndSecrets) {
  const ReplayWorld world(500);
  const std::string file = world.path("report.html");
  const CommandResult result = world.run(
      {"--set", "serve.public_token_file=\"hunter2\"", "--set", "descent.step_size=0.0125", "--report", file});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string page = read_file(file);
  for (const char* const reference : {"http:", "https:", "src=", "href=", "<script", "<link", "url(\"", "@import"}) {
    EXPECT_THAT(page, Not(HasSubstr(reference)));
  }
  EXPECT_THAT(page, HasSubstr("step_size = 0.0125")) << "as it was set on the command line";
  EXPECT_THAT(page, Not(HasSubstr("hunter2")));
  EXPECT_THAT(page, Not(HasSubstr(world.path("state"))));
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0644U);
}

TEST(Report, IsRefusedBeforeAnythingIsSpent) {
  const ReplayWorld world(500);
  const CommandResult result = world.run({"--report", world.path("no-such-folder/report.html")});
  EXPECT_EQ(result.code, 74);
  EXPECT_FALSE(std::filesystem::exists(world.path("state")));
}

TEST(Report, DrawsThePastOfARunThatWentOn) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  const std::string file = world.path("report.html");
  const CommandResult result = world.run({"--resume", "--report", file});
  ASSERT_EQ(result.code, 0) << result.err;
  // The faint iterate begins with the average, after step 500. The quoted line, from 100 to 2,000, has all twenty
  // points.
  const std::string page = read_file(file);
  const std::size_t line = page.find("<path class=\"line\" d=\"");
  ASSERT_NE(line, std::string::npos);
  const std::string path = page.substr(line, page.find("/>", line) - line);
  EXPECT_EQ(count_of("L", path) + count_of("M", path), 20U) << path;
}

TEST(Report, DrawsTheMainCoefficientAlone) {
  const ReplayWorld world;
  const std::string file = world.path("chart.svg");
  const CommandResult result = world.run({"--chart", file});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string chart = read_file(file);
  EXPECT_THAT(chart, HasSubstr("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(chart, HasSubstr("world: x over the steps</text>"));
  char value[32];
  std::snprintf(value, sizeof value, "%.4g", last_of(world.releases()).average[1].second);
  EXPECT_THAT(chart, HasSubstr("At step 2,000 the quoted estimate is " + std::string(value)));
}

TEST(Report, PromisesNothingUnderAKnownSeed) {
  const ReplayWorld world(500);
  const std::string file = world.path("report.html");
  ASSERT_EQ(world.run({"--insecure-seed", "1", "--report", file}).code, 0);
  EXPECT_THAT(read_file(file), HasSubstr("These figures promise nothing"));
  EXPECT_THAT(read_file(file), Not(HasSubstr("times in 100")));
}

TEST(Report, HasTheIntervalsOfAnEstimate) {
  const EstimateWorld world;
  const std::string file = world.path("report.html");
  const CommandResult result =  // a hundred steps settle under this seed
      world.run({"--set", "intervals.kind=runs", "--set", "intervals.count=3", "--set", "estimate.steps=100",
                 "--insecure-seed", "1", "--report", file, "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string page = read_file(file);
  EXPECT_THAT(page, HasSubstr("<th scope=\"col\">From</th>"));
  EXPECT_THAT(page, HasSubstr("Intervals ("));
  const std::size_t lower = result.out.find("\"lower\":{");
  ASSERT_NE(lower, std::string::npos) << result.out;
  const std::size_t number = result.out.find(':', lower + 9) + 1;
  const std::string value = result.out.substr(number, result.out.find_first_of(",}", number) - number);
  EXPECT_THAT(page, HasSubstr("<data value=\"" + value + "\">"));
}

// It would take the place of a file of the run: the public releases, for example.
TEST(Report, LiesNeverInTheStateFolder) {
  const ReplayWorld world;
  std::filesystem::create_directory(world.path("state"));
  std::filesystem::create_directory_symlink("state", world.path("link"));
  for (const char* const option : {"--operator-json", "--report", "--chart", "--write-config"}) {
    for (const char* const file : {"state/releases.jsonl", "state/../state/new/report", "link/report"}) {
      SCOPED_TRACE(std::string(option) + " " + file);
      const CommandResult refused = world.run({option, world.path(file)});
      EXPECT_EQ(refused.code, 64);
      EXPECT_THAT(refused.err,
                  HasSubstr(std::string(option) + ": " + world.path(file) + " lies in the state folder"));
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(world.path("state"))) << "nothing is begun";
  const CommandResult planned = run_command(
      NUSTREAM_COMMAND, {"plan", world.config(), "--records", "2000", "--set",
                         "state.directory=\"" + world.path("state") + "\"", "--report", world.path("state/ledger")});
  EXPECT_EQ(planned.code, 64) << planned.err;
  EXPECT_EQ(world.run({"--report", world.path("state-of-things.html"), "--quiet"}).code, 0);
}

}  // namespace
}  // namespace nustream::tests
