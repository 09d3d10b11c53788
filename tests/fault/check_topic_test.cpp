// Dry runs over a topic of a real broker, what `topics` says is there, and what a lane's log says about its records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "attach_users_world.h"
#include "attach_world.h"
#include "typed_look.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Words = std::vector<std::string>;

CommandResult check(const AttachWorld& world, Words more) {
  more.insert(more.begin(), {"check", world.config(), "--data"});
  return run_command(NUSTREAM_COMMAND, more);
}

TEST(CheckTopic, ReadsCommittedRecordsWithoutAGroupAndWithoutATrace) {
  const AttachWorld world(2);
  world.write(AttachWorld::values(1000, 1), 0);
  world.write(AttachWorld::values(1000, 2), 1);
  const CommandResult result = check(world, {"--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  simdjson::dom::parser parser;
  const simdjson::dom::element data = parser.parse(result.out)["data"];
  EXPECT_EQ(std::uint64_t(data["records"]), 2000U);
  EXPECT_EQ(std::uint64_t(data["usable"]), 2000U - 2 * 10)
      << "every 97th of either partition is unusable: of 1,000 the 97th, the 194th, … the 970th";
  EXPECT_EQ(std::string(data["source"]), "topic '" + world.name() + "', 2 partitions");

  EXPECT_THAT(world.releases(), IsEmpty());
  EXPECT_THAT(world.committed(world.name() + ".state"), IsEmpty());
  EXPECT_THAT(world.committed(world.name() + ".ledger"), IsEmpty());
  // No group was made, so that none can be deleted.
  EXPECT_ANY_THROW(delete_group(AttachWorld::direct(), "nustream-" + world.name()));
}

// Both partitions have all users' records: of each pair one is read in the lane in which its user counts.
TEST(CheckTopic, CountsRecordsOfUsersWhoCountInAnotherLane) {
  const AttachUsersWorld world(2);
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(400);
  world.write(values, 0);
  world.write(values, 1);
  const CommandResult result = run_command(NUSTREAM_COMMAND, {"check", world.config(), "--data", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("a user of another lane"));
  simdjson::dom::parser parser;
  const simdjson::dom::element data = parser.parse(result.out)["data"];
  const auto usable = static_cast<double>(std::uint64_t(data["usable"]));
  EXPECT_LT(usable, 0.9 * static_cast<double>(std::uint64_t(data["records"])));
  EXPECT_GT(usable, 0.1 * static_cast<double>(std::uint64_t(data["records"])));
}

// The brokers that tell of the records tell as well what attach would refuse of their topic.
TEST(CheckTopic, RefusesATopicThatAttachWouldRefuse) {
  const AttachWorld world;
  world.write(AttachWorld::values(20));
  const Words by_time{"--set", "kafka.start=\"2026-01-01T00:00:00Z\""};
  const CommandResult refused = check(world, by_time);
  EXPECT_EQ(refused.code, 78) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("topic '" + world.name() + "' keeps the producers' times"));
  Words of_files = by_time;
  const std::string file = world.folder().write("rows.csv", "1,1\n");
  of_files.insert(of_files.end(), {"--records", "20", "--set", "stream.input=\"" + file + "\""});
  EXPECT_THAT(check(world, of_files).out,
              HasSubstr("but attach would refuse this: topic '" + world.name() + "' keeps"));
}

// attach measures the first ranges.records records of partition 0, however many are looked at here.
TEST(CheckTopic, LooksBeforeSettingsAreMeasured) {
  const AttachWorld world;
  world.write(AttachWorld::values(500, 1));
  const CommandResult result =
      check(world, {"--records", "100", "--set", "features.0.center=private", "--set", "features.0.scale=private",
                    "--set", "privacy.rho=20", "--set", "ranges.records=2000"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      AllOf(HasSubstr("records         100 of topic '" + world.name() + "', 1 partition\n"),
            HasSubstr("\nusable          99 (99%)\n"),
            HasSubstr("\nmeasured first  features.0.center, features.0.scale: they are \"private\", and a run "
                      "measures them first, so that "),
            HasSubstr("\nWhat nustream plan says, of the settings:\n"),
            HasSubstr("or the first 2000 records of partition 0")));
  EXPECT_THAT(result.out, AllOf(Not(HasSubstr("\nclipped ")), Not(HasSubstr("too few"))));
  EXPECT_THAT(world.committed(world.name() + ".ledger"), IsEmpty());
}

TEST(CheckTopic, TakesAsManyOfEachPartition) {
  const AttachWorld world(2);
  world.write(AttachWorld::values(500, 1), 0);
  world.write({"1,2", "3,4", "x,y"}, 1);
  EXPECT_THAT(check(world, {"--records", "20"}).out, HasSubstr("records         20 of topic"))
      << "17 of the partition that has more";
  // Where attach would begin at the end, the last records are looked at.
  const CommandResult last = check(world, {"--records", "2", "--set", "kafka.start=latest"});
  EXPECT_THAT(last.out, HasSubstr("column 'x': not a number; record 2 is one (partition 1, offset 2: 'x')\n"))
      << last.err;
  EXPECT_EQ(check(world, {"--set", "kafka.topic=none-such"}).code, 78);
}

TEST(Topics, ShowsWhatIsThereBesideWhatIsWanted) {
  const AttachWorld world(3);
  delete_topic(AttachWorld::direct(), world.name() + ".dead");
  const Words arguments{"topics", world.config(), "--replication", "1"};
  CommandResult result;
  // A busy broker knows only some moments later that a topic is gone.
  wait_until([&] {
    result = run_command(NUSTREAM_COMMAND, arguments);
    return result.code != 0 || result.out.find("not there") != std::string::npos;
  });
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string& name = world.name();
  EXPECT_THAT(result.out, HasSubstr("wanted: " + name + ".state: 3 partitions, 1 replicas cleanup.policy=compact"));
  EXPECT_THAT(result.out,
              HasSubstr("  there, and other than wanted: " + name +
                        ".state: 3 partitions, 1 replicas cleanup.policy=compact max.compaction.lag.ms="));
  EXPECT_THAT(result.out, HasSubstr("  there, as wanted: " + name +
                                    ".ledger: 3 partitions, 1 replicas "
                                    "cleanup.policy=delete retention.bytes=-1 "
                                    "retention.ms=-1\n"));
  EXPECT_THAT(result.out,
              HasSubstr("wanted: " + name +
                        ".dead: 3 partitions, 1 replicas\n  not there: nustream topics CONFIG --create makes it\n"));

  const CommandResult created =
      run_command(NUSTREAM_COMMAND, {"topics", world.config(), "--replication", "1", "--create"});
  EXPECT_EQ(created.code, 0) << created.err;
  EXPECT_THAT(created.out, HasSubstr("made:   " + name + ".dead: 3 partitions"));
}

// attach takes topics that have more partitions than the input.
TEST(Topics, MorePartitionsThanTheInputHasAreAsWanted) {
  const AttachWorld world(3);
  const CommandResult result =
      run_command(NUSTREAM_COMMAND, {"topics", world.config(), "--replication", "1", "--partitions", "2"});
  EXPECT_THAT(result.out, HasSubstr("wanted: " + world.name() + ".ledger: 2 partitions"));
  EXPECT_THAT(result.out, HasSubstr("  there, as wanted: " + world.name() + ".ledger: 3 partitions"));
}

// attach refuses an input that is compacted.
TEST(Topics, ShowsThatACompactedInputDiffers) {
  const AttachWorld world;
  alter_topic(AttachWorld::direct(), world.name(), {{"cleanup.policy", "compact"}});
  CommandResult result;
  wait_until([&] {
    result = run_command(NUSTREAM_COMMAND, {"topics", world.config(), "--replication", "1"});
    return result.code != 0 || result.out.find("differs") != std::string::npos;
  });
  EXPECT_THAT(result.out, HasSubstr("there, and other than wanted: " + world.name() +
                                    ": 1 partitions, 1 replicas cleanup.policy=compact"));
  EXPECT_THAT(result.out, HasSubstr("  differs: wanted is cleanup.policy=delete\n"));
}

TEST(LaneLog, SaysOnceWhatIsTheSameInTheFirstRecords) {
  const AttachWorld world;
  world.write(std::vector<std::string>(300, "0.1,0.2"));
  const CommandResult result = world.run({"--until-end"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("lane 0: operator only, not private: the first "));
  EXPECT_THAT(result.err, HasSubstr(" usable records all have the same 'x' and the same target 'y': while that stays "
                                    "so, what is released of them tells nothing; "));
  EXPECT_EQ(result.err.find("all have the same"), result.err.rfind("all have the same"));
}

TEST(Topics, TheBrokersMayBeTyped) {
  const AttachWorld world(1, "localhost:1");
  const Words typed{"topics", world.config(), "-b", shared_broker().bootstrap(), "-X", "client.id=typed"};
  const CommandResult result = run_command(NUSTREAM_COMMAND, typed);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(world.name() + ".ledger"));
  const CommandResult inspected =
      run_command(NUSTREAM_COMMAND, {"inspect", world.config(), "-b", shared_broker().bootstrap(), "--json"});
  EXPECT_EQ(inspected.code, 0) << inspected.err;
  EXPECT_EQ(inspected.out, "[]\n");
}

// attach waits for its brokers as long as kafka.give_up_seconds, which is 300. A person who types one of these
// commands waits for an answer.
TEST(DeadBrokers, AreToldToAPersonSoon) {
  const AttachWorld world(1, "127.0.0.1:1");
  for (const Words& command : {Words{"topics", world.config()}, Words{"inspect", world.config()},
                               Words{"check", world.config(), "--data", "--records", "10"}}) {
    const auto before = std::chrono::steady_clock::now();
    const CommandResult result = run_command(NUSTREAM_COMMAND, command);
    EXPECT_EQ(result.code, 69) << command[0];
    EXPECT_THAT(result.err, HasSubstr("check kafka.brokers, and that a broker runs there")) << command[0];
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::minutes(2)) << command[0];
  }
}

TEST(LaneLog, SaysAtOnceAndAtItsEndThatNothingCanBeUsed) {
  const AttachWorld world;
  world.write(std::vector<std::string>(600, std::string("\0\0\0\0\7{}", 7)));
  const CommandResult result = world.run({"--until-end"});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::string lane = "nustream: warning: lane 0: operator only, not private: ";
  const std::string reason =
      "most often the value begins with a zero byte and four more: framed by a schema registry? (record 0)";
  // How many records a lane has read when it first looks is up to the broker.
  std::vector<std::string> said;
  EXPECT_THAT(result.err, HasSubstr(": nustream check " + world.config() + " --data "));
  std::istringstream lines(
      std::regex_replace(with_short_look(result.err), std::regex("first [0-9]+ records [0-9]+ "), "first N "));
  for (std::string line; std::getline(lines, line);) {
    if (line.find("operator only") != std::string::npos) said.push_back(line);
  }
  const std::string ask_check = ": nustream check CONFIG --data shows more";
  EXPECT_THAT(said, ElementsAre(lane + "of the first N (100%) cannot be used; " + reason + ask_check,
                                lane + "none of 600 records could be used: every step was noise alone; " + reason +
                                    ask_check));
}

TEST(LaneLog, HasNoSuchLineWhereAllIsWell) {
  const AttachWorld world;
  std::vector<std::string> values;
  for (int i = 0; i < 300; ++i) values.push_back(fmt::format("0.{},0.{}", i % 7, i % 5));
  world.write(values);
  const CommandResult result = world.run({"--until-end"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("operator only")));
}

TEST(AttachWarns, OfABudgetBelowWhatTheEpochWouldSpend) {
  const AttachWorld world;
  world.write({"1,2"});
  const CommandResult result = world.run({"--until-end", "--set", "privacy.budget=0.25"});
  EXPECT_THAT(result.err, HasSubstr("nustream: warning: privacy.budget ends this epoch after "));
}

}  // namespace
}  // namespace nustream::tests
