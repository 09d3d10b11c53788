// Records of a table that `nustream estimate` cannot use: null records in every release, and a bounded list for the
// operator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "configured_command.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

/// Settings over 300 rows, every third of which is `each_third`.
std::string settings_of_thirds(const TemporaryFolder& folder, const std::string& each_third) {
  std::string rows = "x,y\n";
  for (int i = 0; i < 300; ++i) rows += i % 3 == 0 ? each_third + "\n" : "1,2\n";
  return R"([stream]
name = "rows"
input = ")" +
         folder.write("rows.csv", rows) +
         R"("
[target]
column = "y"
[[features]]
column = "x"
[model]
intercept = false
[descent]
step_size = 0.25
clip_norm = 1.0
[privacy]
rho = 1.0
delta = 1e-6
[estimate]
steps = 20
)";
}

// n is public, and how many of the records can be used is not: unusable ones are null records in every release.
TEST(Estimate, DividesByTheNumberOfRecordsUsableOrNot) {
  const auto releases_with = [](const std::string& each_third) {
    const TemporaryFolder folder;
    const JsonOutput found =
        run_configured("estimate", folder, settings_of_thirds(folder, each_third), {"--insecure-seed", "1"});
    EXPECT_EQ(found.command.code, 0) << found.command.err;
    return read_file(folder.path() / "state" / "releases.jsonl");
  };
  const std::string of_null = releases_with("0,0");
  EXPECT_FALSE(of_null.empty());
  EXPECT_TRUE(releases_with("unusable,row") == of_null);
}

TEST(Estimate, EachCommandWritesItsRejectsDownOnce) {
  const TemporaryFolder folder;
  const std::string settings =
      settings_of_thirds(folder, "unusable,row") + "[intervals]\nkind = \"runs\"\ncount = 4\n";
  const auto rejects_after = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"--insecure-seed", "1", "--set", "state.rejects=true"});
    const JsonOutput found = run_configured("estimate", folder, settings, options);
    EXPECT_EQ(found.command.code, 0) << found.command.err;
    EXPECT_EQ(found.for_operator["rejected"].get_uint64().value(), 100U);
    EXPECT_THAT(std::string(std::string_view(found.for_operator["most_often"])), HasSubstr("column "));
    EXPECT_THAT(std::string(std::string_view(found.for_operator["rejects"])), HasSubstr("/state/rejects.jsonl"));
    EXPECT_TRUE(bool(found.for_operator["rejects_written"]));
    return read_file(folder.path() / "state" / "rejects.jsonl");
  };
  const std::string rejects = rejects_after({});
  EXPECT_EQ(std::count(rejects.begin(), rejects.end(), '\n'), 100);
  EXPECT_THAT(rejects, ::testing::StartsWith("{\"position\":0,\"reason\":"));
  EXPECT_THAT(rejects, HasSubstr("\n{\"position\":297,"));
  EXPECT_EQ(rejects_after({"--resume"}), rejects + rejects);
}

// The bytes that rejects take do not depend on how many there are.
TEST(Estimate, ListsRejectsUpToABound) {
  constexpr std::size_t listed_max = std::size_t{8} << 20;
  const TemporaryFolder folder;
  const std::string settings = settings_of_thirds(folder, "0,0");
  std::string rows = "x,y\n";
  for (int i = 0; i < 300'000; ++i) rows += "unusable,row\n";
  folder.write("rows.csv", rows);
  ASSERT_EQ(run_configured("estimate", folder, settings, {"--insecure-seed", "1", "--set", "state.rejects=true"})
                .command.code,
            0);
  const std::string rejects = read_file(folder.path() / "state" / "rejects.jsonl");
  EXPECT_GE(rejects.size(), listed_max);
  EXPECT_LE(rejects.size(), listed_max + (1 << 20));
  EXPECT_THAT(rejects, ::testing::EndsWith("\"further rejects are not listed: the list has reached 8 MiB\"}\n"));
  EXPECT_EQ(rejects.find("not listed"), rejects.rfind("not listed"));
}

}  // namespace
}  // namespace nustream::tests
