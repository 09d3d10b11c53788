// `nustream estimate` where the unit of privacy is the user: all of a user's rows are one contribution to each step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "configured_command.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t rows = 60;

std::string table_of_users(const std::string& more = "") {
  return R"([stream]
name = "table"
input = "rows.csv"
[[features]]
column = "x"
[[features]]
column = "z"
[model]
loss = "mean"
[descent]
step_size = 0.4
clip_norm = 3.0
[privacy]
unit = "user"
user = "who"
rho = 2
delta = 1e-6
[estimate]
steps = 5
)" + more;
}

/// Rows of users, and a table that has for each user one row with the sums of its rows, filled up with unusable rows
/// to as many as there were. A descent by record clips those sums as a whole.
std::pair<std::string, std::string> rows_and_their_sums() {
  std::mt19937_64 bits(3);
  std::normal_distribution<double> normal;
  std::map<std::uint64_t, std::pair<double, double>> sums;
  std::string by_row = "who,x,z\n";
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint64_t who = bits() % 9;
    const double x = std::round(normal(bits) * 1024) / 1024;
    const double z = std::round(normal(bits) * 1024) / 1024;
    by_row += fmt::format("{},{},{}\n", who, x, z);
    sums[who].first += x;
    sums[who].second += z;
  }
  std::string by_user = "who,x,z\n";
  for (const auto& [who, sum] : sums) by_user += fmt::format("{},{},{}\n", who, sum.first, sum.second);
  for (std::size_t i = sums.size(); i < rows; ++i) by_user += "nobody,no,number\n";
  return {by_row, by_user};
}

// The noise is the same, and so is what is clipped: in both, a unit takes part in T steps of the whole table.
TEST(UsersEstimate, ClipsTheSumOfAUsersRowsAtEachStep) {
  const auto [by_row, by_user] = rows_and_their_sums();
  const TemporaryFolder folder;
  const TemporaryFolder summed;
  folder.write("rows.csv", by_row);
  summed.write("rows.csv", by_user);
  const std::vector<std::string> seed{"--insecure-seed", "5"};
  JsonOutput found = run_configured("estimate", folder, table_of_users(), seed);
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  JsonOutput plain = run_configured("estimate", summed, table_of_users(),
                                    {"--insecure-seed", "5", "--set", "privacy.unit=\"record\""});
  ASSERT_EQ(plain.command.code, 0) << plain.command.err;
  for (const char* name : {"x", "z"}) EXPECT_NEAR(found.value("estimate", name), plain.value("estimate", name), 1e-7);
  EXPECT_EQ(found.json["rho"].get_double().value(), plain.json["rho"].get_double().value());
  EXPECT_EQ(found.for_operator["gradients"].get_uint64().value(), 5 * 9U);
  EXPECT_EQ(found.for_operator["clipped"].get_uint64().value(), plain.for_operator["clipped"].get_uint64().value());
  EXPECT_GT(found.for_operator["clipped"].get_uint64().value(), 0U);
}

// A user's rows may be in every minibatch. The noise is that of T participations one after the other, not of one in
// every pass.
TEST(UsersEstimate, CostsAUserEveryStepWhateverTheMinibatches) {
  const TemporaryFolder folder;
  folder.write("rows.csv", rows_and_their_sums().first);
  const std::string config = folder.write("model.toml", table_of_users());
  const auto sigma_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"plan", config, "--records", "60", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult plan = run_command(NUSTREAM_COMMAND, arguments);
    EXPECT_EQ(plan.code, 0) << plan.err;
    simdjson::dom::parser parser;
    return parser.parse(plan.out)["sensitivity"].get_double().value();
  };
  EXPECT_NEAR(sigma_of({}), std::sqrt(5.0), 1e-12);
  EXPECT_NEAR(sigma_of({"--set", "descent.minibatch=20"}), std::sqrt(5.0), 1e-12);
  EXPECT_NEAR(sigma_of({"--set", "descent.minibatch=20", "--set", "privacy.unit=\"record\""}), std::sqrt(2.0), 1e-12);
}

TEST(UsersEstimate, SaysWhoseTheSpendIsAndAddsEstimatesUp) {
  const TemporaryFolder folder;
  folder.write("rows.csv", rows_and_their_sums().first);
  const std::string config = folder.write("model.toml", table_of_users());
  const std::vector<std::string> arguments{
      "estimate", config, "--insecure-seed", "5", "--set", "state.directory=" + (folder.path() / "state").string()};
  const CommandResult one = run_command(NUSTREAM_COMMAND, arguments);
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("per user (all records of one who): at most 5 contributions, replace-one"));
  std::vector<std::string> again = arguments;
  again.emplace_back("--new-epoch");
  const CommandResult two = run_command(NUSTREAM_COMMAND, again);
  ASSERT_EQ(two.code, 0) << two.err;
  EXPECT_THAT(two.out, HasSubstr("rho 4"));
  // Another way to tell users apart makes another table.
  folder.write("rows.csv", rows_and_their_sums().first);
  again.insert(again.end(), {"--set", "privacy.unit=\"record\""});
  const CommandResult by_record = run_command(NUSTREAM_COMMAND, again);
  EXPECT_EQ(by_record.code, 78) << by_record.err;
}

// A table that differs only in whose a row is, is another table.
TEST(UsersEstimate, ResumesOverTheSameUsersAlone) {
  const TemporaryFolder folder;
  const std::string by_row = rows_and_their_sums().first;
  folder.write("rows.csv", by_row);
  const std::string config = folder.write("model.toml", table_of_users());
  std::vector<std::string> arguments{"estimate",
                                     config,
                                     "--insecure-seed",
                                     "5",
                                     "--quiet",
                                     "--set",
                                     "state.directory=" + (folder.path() / "state").string()};
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, arguments).code, 0);
  arguments.emplace_back("--resume");
  EXPECT_EQ(run_command(NUSTREAM_COMMAND, arguments).code, 0);
  std::string other = by_row;
  const std::size_t second = other.find('\n', 8) + 1;
  other[second] = other[second] == '7' ? '6' : '7';
  folder.write("rows.csv", other);
  const CommandResult refused = run_command(NUSTREAM_COMMAND, arguments);
  EXPECT_EQ(refused.code, 65) << refused.err;
}

TEST(UsersEstimate, RefusesWhatIsNotThere) {
  const TemporaryFolder folder;
  folder.write("rows.csv", "who,x,z\n1,1,1\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"privacy.unit=\"household\""}, "\"record\" or \"user\""},
      {{"privacy.user=\"\""}, "a column"},
      {{"users.participations=3"},
       "--set users.participations=3: users.participations = 3: allowed is nothing for a table"},
      {{"privacy.protects=\"target\""}, ""},
      {{"privacy.user=\"whom\""}, "no column 'whom'"},
  };
  for (const auto& [settings, said] : cases) {
    std::vector<std::string> more;
    for (const std::string& setting : settings) more.insert(more.end(), {"--set", setting});
    const JsonOutput found = run_configured("estimate", folder, table_of_users(), more);
    EXPECT_EQ(found.command.code, 78) << settings.front() << ": " << found.command.err;
    EXPECT_THAT(found.command.err, HasSubstr(said));
  }
}

}  // namespace
}  // namespace nustream::tests
