// What users' counts outlive: a rotation of the key, another name of their column, and another place where records
// name them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <simdjson.h>

#include "journal/disk.h"
#include "recording/segment_writer.h"
#include "stored_message.h"
#include "users_world.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

/// rho is so large that noise is nothing: whoever counts moves the iterate, and nobody else does.
const std::vector<std::string> without_noise{"--quiet", "--set", "privacy.rho=1e9", "--set", "descent.step_size=0.5"};
constexpr double nothing = 1e-3;
constexpr double something = 1e-2;

// Each of 40 users counts once, and the first 1,000 records hold all of them.
class CountsOfUsers : public ::testing::Test {
 protected:
  const UsersWorld world{2000, 40, "participations = 1\n"};

  [[nodiscard]] CommandResult run(const std::vector<std::string>& more) const {
    return world.run(with(without_noise, more));
  }
};

TEST_F(CountsOfUsers, OutliveARotationOfTheKey) {
  ASSERT_EQ(run({"--to", "1000"}).code, 0);
  const std::string key = world.path("new.key");
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", key}).code, 0);
  const CommandResult rotated = run_command(NUSTREAM_COMMAND, {"key", "rotate", world.path("state"), key});
  ASSERT_EQ(rotated.code, 0) << rotated.err;
  const CommandResult resumed = run({"--resume", "--set", "state.key_file=\"" + key + "\""});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const std::vector<double> slopes = slopes_of(world.releases());
  ASSERT_EQ(slopes.size(), 100U);
  EXPECT_GT(std::abs(slopes[49]), something);
  EXPECT_NEAR(slopes.back(), slopes[49], nothing);
}

/// The same stream with another name of its users' column.
std::string renamed(std::string csv) {
  return csv.replace(0, 7, "x,customer,y");
}

std::string closed_ones() {
  std::string identifiers;
  for (int who = 1; who < 40; ++who) identifiers += std::to_string(who) + "\n";
  return identifiers;
}

TEST_F(CountsOfUsers, BeginAnewUnderAnotherColumnAndBothEpochsAreCharged) {
  ASSERT_EQ(run({"--to", "1000"}).code, 0);
  world.write("rows.csv", renamed(UsersWorld::csv(2000, 40)));
  const CommandResult next = run({"--new-epoch", "--from-start", "--set", "privacy.user=customer", "--json"});
  ASSERT_EQ(next.code, 0) << next.err;
  EXPECT_GT(std::abs(slopes_of(world.releases()).back()), something);
  simdjson::dom::parser parser;
  const auto report = parser.parse(next.out);
  EXPECT_GT(report["ledger_rho"].get_double().value(), 1.2 * report["rho"].get_double().value());
}

/// ρ of the ledger over ρ of the epoch, of what --json printed.
double charged_over_epoch(const CommandResult& result) {
  EXPECT_EQ(result.code, 0) << result.err;
  simdjson::dom::parser parser;
  const auto report = parser.parse(result.out);
  return report["ledger_rho"].get_double().value() / report["rho"].get_double().value();
}

/// The rows of a file with a header, without it.
std::string headerless(const std::string& csv) {
  return csv.substr(csv.find('\n') + 1);
}

// Where the settings themselves say that identifiers are found elsewhere or written otherwise, the same text may be
// another person.
TEST_F(CountsOfUsers, BeginAnewWhereIdentifiersAreReadOtherwise) {
  const std::vector<std::string> by_order{"--set", "stream.header=false", "--set",
                                          "stream.columns=[\"x\",\"who\",\"y\"]"};
  world.write("rows.csv", headerless(UsersWorld::csv(2000, 40)));
  ASSERT_EQ(run(with(by_order, {"--to", "1000"})).code, 0);
  const std::vector<std::string> anew{"--new-epoch", "--from", "0", "--from-start", "--json"};
  EXPECT_LT(charged_over_epoch(run(with(by_order, anew))), 1 + 1e-9) << "the same input";
  std::string other;
  std::istringstream lines(headerless(UsersWorld::csv(2000, 40)));
  for (std::string line; std::getline(lines, line);) other += "7," + line + "\n";
  world.write("rows.csv", other);
  EXPECT_GT(charged_over_epoch(run(with(
                anew, {"--set", "stream.header=false", "--set", "stream.columns=[\"place\",\"x\",\"who\",\"y\"]"}))),
            1.2)
      << "another field";
}

TEST_F(CountsOfUsers, BeginAnewUnderAnotherFormat) {
  ASSERT_EQ(run({"--to", "1000"}).code, 0);
  std::string json;
  for (int i = 0; i < 2000; ++i) json += fmt::format("{{\"who\":\"{}\",\"x\":0.5,\"y\":1}}\n", 1 + i % 39);
  world.write("rows.csv", json);
  EXPECT_GT(charged_over_epoch(
                run({"--new-epoch", "--from", "0", "--from-start", "--json", "--set", "stream.format=jsonl"})),
            1.2);
}

// Whoever was closed stays closed: under the stream's one key, the same identifier is the same user.
TEST_F(CountsOfUsers, LeaveThoseClosedWhoWereWhereTheColumnIsRenamed) {
  ASSERT_EQ(run({"--to", "100"}).code, 0);
  std::vector<std::string> close{"users", "close", world.config()};
  close = with(close, {"--set", "privacy.rho=1e9", "--set", "state.directory=\"" + world.path("state") + "\""});
  const CommandResult closed = run_command(NUSTREAM_COMMAND, close, world.write("identifiers", closed_ones()));
  ASSERT_EQ(closed.code, 0) << closed.err;
  world.write("rows.csv", renamed(UsersWorld::csv(2000, 40)));
  for (const char* again : {"--new-epoch", "--resume"}) {
    const CommandResult next =
        run({again, "--to", again == std::string("--resume") ? "2000" : "1000", "--set", "privacy.user=customer"});
    ASSERT_EQ(next.code, 0) << next.err;
  }
  const std::vector<double> slopes = slopes_of(world.releases());
  ASSERT_EQ(slopes.size(), 5U + 95U);
  EXPECT_NEAR(slopes.back(), slopes[5], nothing);
  const CommandResult seen = run_command(NUSTREAM_COMMAND, {"inspect", world.path("state"), "--users"});
  EXPECT_THAT(seen.out, HasSubstr("39 users, 39 of them at their limits")) << seen.err;
}

// The records are the same, and their users are named by a column, by the key or by a header of a topic's record.
TEST(UsersOfATopic, AreThoseOfTheColumnThatNamesThem) {
  const UsersWorld world;
  const std::vector<std::string> from_a_seed{"--insecure-seed", "7", "--quiet"};
  ASSERT_EQ(world.run(from_a_seed, "column").code, 0);
  std::istringstream csv(UsersWorld::csv(2000, 40));
  std::vector<StoredMessage> stored;
  std::string line;
  std::getline(csv, line);
  while (std::getline(csv, line)) {
    const std::size_t first = line.find(',');
    const std::size_t second = line.find(',', first + 1);
    const std::string who = line.substr(first + 1, second - first - 1);
    stored.push_back({.offset = stored.size(),
                      .key = who,
                      .value = line.substr(0, first) + line.substr(second),
                      .headers = {{"person", who}}});
  }
  const auto disk = journal::posix_disk();
  auto writer = recording::SegmentWriter::create(*disk, world.path("orders"), {.topic = "t", .cluster = "c"});
  auto messages = views(stored);
  for (const decode::Message& message : messages.messages()) writer.add(message);
  writer.finish(writer.next());
  const std::vector<double> expected = slopes_of(world.releases("column"));
  ASSERT_EQ(expected.size(), 100U);
  for (const char* named : {"@key", "@header:person"}) {
    const CommandResult run =
        world.run(with(from_a_seed, {world.path("orders"), "--set", "stream.columns=[\"x\",\"y\"]", "--set",
                                     "stream.header=false", "--set", "privacy.user=\"" + std::string(named) + "\""}),
                  named + 1);
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(slopes_of(world.releases(named + 1)), expected) << named;
  }
}

}  // namespace
}  // namespace nustream::tests
