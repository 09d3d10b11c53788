// The attached service where the unit of privacy is the user: the counts are those of the committed steps, whoever
// owns the lane, or the service refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attach_users_world.h"
#include "operator_listener.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> seeded{"--until-end", "--insecure-seed", "7"};

/// How many values are somebody's and fit for a step.
std::size_t usable(const std::vector<std::string>& values) {
  return static_cast<std::size_t>(std::ranges::count_if(values, [](const std::string& value) {
    return AttachUsersWorld::user_of(value) != "0" && value.find("unusable") == std::string::npos;
  }));
}

/// How many dead letters are of users who count in another lane.
std::size_t letters_of_another_lane(const AttachWorld& world, int lane) {
  std::size_t letters = 0;
  for (const StoredRecord& letter : world.committed(world.name() + ".dead", lane)) {
    for (const auto& [name, text] : letter.headers) {
      if (name == "nustream.reason" && text->find("a user of another lane") != std::string::npos) ++letters;
    }
  }
  return letters;
}

std::vector<std::string> joined_arguments(std::vector<std::string> first, const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}
std::vector<std::string> with_new_epoch(std::vector<std::string> arguments) {
  arguments.emplace_back("--new-epoch");
  return arguments;
}

TEST(AttachUsers, ReplaysABoundedTopicAsAFileWithTheSameRecords) {
  const AttachUsersWorld world;
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(3000);
  world.write(values);
  const CommandResult result = world.run(seeded);
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string releases = joined(world.releases());
  EXPECT_THAT(releases, HasSubstr(R"("protects":"user","user":"who","participations":3,"separation":2)"));
  EXPECT_TRUE(releases == replayed(world, values, 7)) << result.err;
  EXPECT_EQ(ledger_end(world).steps, values.size() / 5);
}

// The next owner's table is that of the committed steps, so that nobody counts again.
TEST(AttachUsers, CountsOnWhereItWasStopped) {
  const AttachUsersWorld world;
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(2000);
  for (const std::size_t end : {400U, 900U, 905U, 2000U}) {
    const std::size_t begin = ledger_end(world).to;
    world.write(
        {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end)});
    const CommandResult part = world.run(seeded);
    ASSERT_EQ(part.code, 0) << part.err;
  }
  EXPECT_GE(expect_same_estimates(world.releases(), replayed(world, values, 7)), 40U);
  expect_one_value_a_step(world.releases_uncommitted());
}

TEST(AttachUsers, TellsNothingOfThemInPublicAndNamesThemNowhere) {
  const AttachUsersWorld world;
  std::vector<std::string> values = AttachUsersWorld::values_of_users(500);
  for (std::string& value : values) value.insert(0, "person-");
  world.write(values);
  const CommandResult result = world.run({"--until-end"});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char* topic : {".users", ".state", ".ledger", ".releases"}) {
    for (const StoredRecord& record : world.committed(world.name() + topic)) {
      EXPECT_THAT(record.key.value_or("") + record.value.value_or(""), Not(HasSubstr("person")));
    }
  }
  EXPECT_THAT(result.out + result.err, Not(HasSubstr("person")));
}

// Each user has one lane, that of the partitioner. A record in another lane is a null record with a reason, and moves
// nothing.
TEST(AttachUsers, CountEachUserInTheLaneOfItsKeyAlone) {
  const AttachUsersWorld world(2, "@key");
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(1500);
  world.write_keyed(values);
  std::vector<std::string> strays;
  for (const std::string& value : AttachUsersWorld::values_of_users(300, 3)) {
    if (partition_of(AttachUsersWorld::user_of(value), 2) == 1) strays.push_back(value);
  }
  // The strays fill whole minibatches, because what is left of one takes no step.
  while ((world.values_of_lane(values, 0).size() + strays.size()) % 5 != 0) strays.pop_back();
  ASSERT_GT(strays.size(), 100U);
  std::vector<StoredRecord> misplaced;
  for (const std::string& value : strays) misplaced.push_back({AttachUsersWorld::user_of(value), value});
  write_records(world.direct(), world.name(), 0, misplaced);
  const CommandResult result = world.run(seeded);
  ASSERT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> by_column{"--set", "privacy.user=\"who\""};
  for (const int lane : {0, 1}) {
    std::vector<std::string> of_lane = world.values_of_lane(values, lane);
    if (lane == 0) of_lane.insert(of_lane.end(), strays.size(), "0,nobody,nothing");
    EXPECT_GE(expect_same_estimates(world.releases(lane), replayed(world, of_lane, 7, lane, by_column)), 10U);
  }
  EXPECT_EQ(letters_of_another_lane(world, 0), usable(strays));
}

TEST(AttachUsers, SayThatATopicIsNotDividedByThem) {
  const AttachUsersWorld world(2);
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(400);
  world.write(values, 0);
  world.write(values, 1);
  const CommandResult result = world.run(seeded);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("privacy.user = \"who\" is not the topic's key"), HasSubstr("@key")));
  // Both lanes have one key: of each pair of records exactly one counts.
  EXPECT_EQ(letters_of_another_lane(world, 0) + letters_of_another_lane(world, 1), usable(values));
}

/// A stream that has run, and its store.
class AttachUsersStore : public ::testing::Test {
 protected:
  void SetUp() override {
    // There are so few values that users have contributions left for later.
    world_.write(AttachUsersWorld::values_of_users(100));
    ASSERT_EQ(world_.run({"--until-end"}).code, 0);
    older_ = world_.committed(world_.users_topic());
    world_.write(AttachUsersWorld::values_of_users(600, 2));
    ASSERT_EQ(world_.run({"--until-end"}).code, 0);
    store_ = world_.committed(world_.users_topic());
    releases_ = world_.releases_uncommitted();
    ASSERT_GT(store_.size(), older_.size());
    ASSERT_FALSE(older_.empty());
  }
  void replace_store(const std::vector<StoredRecord>& records) const {
    world_.lose_users();
    if (!records.empty()) write_records(world_.direct(), world_.users_topic(), 0, records);
  }
  void expect_refused(const char* what) const {
    const CommandResult result = world_.run({"--until-end"});
    EXPECT_EQ(result.code, 65) << what << ": " << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr("users"), HasSubstr("--new-epoch"))) << what;
    EXPECT_TRUE(world_.releases_uncommitted() == releases_) << what << ": something was published";
  }

  const AttachUsersWorld world_;
  std::vector<StoredRecord> older_;
  std::vector<StoredRecord> store_;
  std::vector<std::string> releases_;
};

TEST_F(AttachUsersStore, ThatIsLostOlderThinnedOutChangedOrAnothersIsRefused) {
  replace_store({});
  expect_refused("lost");
  replace_store(older_);
  expect_refused("older");
  std::vector<StoredRecord> other = store_;
  other.erase(other.begin() + static_cast<std::ptrdiff_t>(other.size() / 2));
  replace_store(other);
  expect_refused("thinned out");
  other = store_;
  std::string& value = *other[other.size() / 2].value;
  value[value.size() / 2] = static_cast<char>(value[value.size() / 2] ^ 1);
  replace_store(other);
  expect_refused("changed");
  other = store_;
  for (StoredRecord& record : other) record.key->replace(record.key->find("/0/"), 3, "/1/");
  replace_store(other);
  expect_refused("another lane's");
  const AttachUsersWorld another;
  another.write(AttachUsersWorld::values_of_users(1200));
  ASSERT_EQ(another.run({"--until-end"}).code, 0);
  other = another.committed(another.users_topic());
  for (StoredRecord& record : other) record.key->replace(0, another.name().size(), world_.name());
  replace_store(other);
  expect_refused("another stream's");
  // A store at other offsets is the same store.
  replace_store(store_);
  const CommandResult restored = world_.run({"--until-end"});
  EXPECT_EQ(restored.code, 0) << restored.err;
}

TEST_F(AttachUsersStore, ThatIsNewerThanTheStateIsRefused) {
  std::vector<StoredRecord> states = world_.committed(world_.name() + ".state");
  world_.write(AttachUsersWorld::values_of_users(600, 3));
  ASSERT_EQ(world_.run({"--until-end"}).code, 0);
  releases_ = world_.releases_uncommitted();
  write_records(world_.direct(), world_.name() + ".state", 0, {{states.back().key, states.back().value}});
  const CommandResult result = world_.run({"--until-end"});
  EXPECT_EQ(result.code, 65) << result.err;
  EXPECT_TRUE(world_.releases_uncommitted() == releases_) << "something was published";
}

// With whole counts and equal settings, two epochs cost what one does. Where the store is lost, they add up.
TEST_F(AttachUsersStore, IsCarriedOverByANewEpochAndChargedWhereItIsLost) {
  const auto total = [&] {
    simdjson::dom::parser parser;
    return parser.parse(world_.releases().back())["rho_ledger"].get_double().value();
  };
  const double one = total();
  world_.write(AttachUsersWorld::values_of_users(600, 3));
  const std::vector<std::string> renewed{"--until-end", "--new-epoch", "--set", "descent.step_size=0.02"};
  CommandResult next = world_.run(renewed);
  ASSERT_EQ(next.code, 0) << next.err;
  EXPECT_LE(total(), .5 * (1 + 1e-9));
  EXPECT_GE(total(), one * (1 - 1e-9));
  EXPECT_THAT(values_of(world_.committed(world_.name() + ".ledger")).back(), HasSubstr(R"("counts":true)"));
  const double carried = total();
  world_.lose_users();
  world_.write(AttachUsersWorld::values_of_users(600, 4));
  const std::vector<std::string> again{"--until-end", "--new-epoch", "--set", "descent.step_size=0.03"};
  next = world_.run(again);
  ASSERT_EQ(next.code, 0) << next.err;
  EXPECT_THAT(values_of(world_.committed(world_.name() + ".ledger")).back(), HasSubstr(R"("counts":false)"));
  EXPECT_GT(total(), 1.5 * carried);
  next = world_.run({"--until-end", "--set", "descent.step_size=0.03"});
  EXPECT_EQ(next.code, 0) << next.err;
}

// Each user may contribute once, and there is hardly any noise: whoever counts moves the estimate.
const std::vector<std::string> one_each{"--until-end",           "--set", "users.participations=1", "--set",
                                        "privacy.rho=1e10",      "--set", "release.every=1",        "--set",
                                        "descent.step_size=0.05"};

std::vector<double> slopes(const std::vector<std::string>& releases, std::uint64_t epoch) {
  simdjson::dom::parser parser;
  std::vector<double> slopes;
  for (const std::string& line : releases) {
    const simdjson::dom::element release = parser.parse(line);
    if (release["epoch"].get_uint64().value() != epoch) continue;
    slopes.push_back(release["estimate"]["x"].get_double().value());
  }
  return slopes;
}

/// Expects that an epoch left its lane's estimate at `from`.
void expect_nobody_counts(const std::vector<std::string>& releases, std::uint64_t epoch, double from) {
  const std::vector<double> all = slopes(releases, epoch);
  EXPECT_GE(all.size(), 10U);
  for (const double slope : all) EXPECT_NEAR(slope, from, 1e-4);
}

// A new partition gives users other lanes. A user who is at the limit in one lane counts in none of the next epoch's:
// the lanes take over each other's counts.
TEST(AttachUsers, TakeTheirCountsToTheLanesOfAnotherNumberOfPartitions) {
  const AttachUsersWorld world(2, "@key");
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(1200);
  world.write_keyed(values);
  const CommandResult first = world.run(one_each);
  ASSERT_EQ(first.code, 0) << first.err;
  std::vector<double> last;
  for (const int lane : {0, 1}) last.push_back(slopes(world.releases(lane), 0).back());
  EXPECT_GT(std::abs(last[0]), 1e-2);
  world.add_partitions_to_all(3);
  const CommandResult refused = world.run(one_each);
  EXPECT_EQ(refused.code, 65) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("partitions of kafka.topic"));
  world.write_among(AttachUsersWorld::values_of_users(600, 2), 3);
  const CommandResult renewed = world.run(with_new_epoch(one_each));
  ASSERT_EQ(renewed.code, 0) << renewed.err;
  for (const int lane : {0, 1}) expect_nobody_counts(world.releases(lane), 1, last[static_cast<std::size_t>(lane)]);
  expect_nobody_counts(world.releases(2), 1, 0);
  simdjson::dom::parser parser;
  for (const int lane : {0, 1, 2}) {
    EXPECT_THAT(values_of(world.committed(world.name() + ".ledger", lane)).back(), HasSubstr(R"("counts":true)"));
    const double total = parser.parse(world.releases(lane).back())["rho_ledger"].get_double().value();
    EXPECT_LE(total, 1e10 * (1 + 1e-9)) << lane;
    EXPECT_GE(total, .5e10) << lane;  // charged by a lane that somebody comes from, whatever this one did
  }
  // The stream goes on, and changes to other lanes once more.
  world.write_among(AttachUsersWorld::values_of_users(300, 3), 3);
  const CommandResult on = world.run(one_each);
  ASSERT_EQ(on.code, 0) << on.err;
  world.add_partitions_to_all(4);
  world.write_among(AttachUsersWorld::values_of_users(600, 4), 4);
  const CommandResult again = world.run(with_new_epoch(one_each));
  ASSERT_EQ(again.code, 0) << again.err;
  expect_nobody_counts(world.releases(2), 2, 0);
  expect_nobody_counts(world.releases(3), 1, 0);
}

// No step of the new epoch is taken while a lane of the old one goes on.
TEST(AttachUsers, WaitForAllOldLanesToBeClosed) {
  const AttachUsersWorld world(2, "@key");
  const std::vector<std::string> short_session{"-X", "session.timeout.ms=2000", "-X", "heartbeat.interval.ms=300"};
  const std::vector<std::string> on{"--set", "users.participations=1", "--set", "state.commit_seconds=0.1"};
  world.write_keyed(AttachUsersWorld::values_of_users(600));
  Command old(NUSTREAM_COMMAND, world.attach(joined_arguments(on, short_session)));
  wait_until([&] { return ledger_end(world, 0).steps > 20 && ledger_end(world, 1).steps > 20; });
  world.add_partitions_to_all(3);
  const std::string address = some_operator_address();
  Command renewed(
      NUSTREAM_COMMAND,
      world.attach(with_new_epoch(joined_arguments(joined_arguments(on, short_session),
                                                   {"--set", "serve.operator_address=\"" + address + "\""}))));
  world.write_among(AttachUsersWorld::values_of_users(600, 2), 3);
  wait_until(
      [&] { return operator_page(address, "/readyz").find("waits for the closing mark") != std::string::npos; });
  for (const int lane : {0, 1, 2}) EXPECT_TRUE(slopes(world.releases(lane), 1).empty()) << lane;
  old.signal(SIGTERM);
  static_cast<void>(old.wait());
  wait_until([&] { return ledger_end(world, 2).steps > 20; });
  renewed.signal(SIGTERM);
  const CommandResult result = renewed.wait();
  EXPECT_EQ(result.code, 0) << result.err;
}

// The epoch divides its users among two lanes. A third partition has no users of its own, so that no step is taken of
// it, and the two lanes go on.
TEST(AttachUsers, HaveNoStepInAPartitionBeyondTheLanesOfTheirEpoch) {
  const AttachUsersWorld world(2, "@key");
  const std::string address = some_operator_address();
  Command service(NUSTREAM_COMMAND,
                  world.attach({"-X", "topic.metadata.refresh.interval.ms=300", "--set", "state.commit_seconds=0.1",
                                "--set", "serve.operator_address=\"" + address + "\""}));
  world.write_keyed(AttachUsersWorld::values_of_users(600));
  wait_until([&] { return ledger_end(world, 0).steps > 20 && ledger_end(world, 1).steps > 20; });
  world.add_partitions_to_all(3);
  world.write_among(AttachUsersWorld::values_of_users(600, 2), 3);
  wait_until([&] {
    return operator_page(address, "/readyz").find("are divided among 2 lanes: stop all instances") !=
           std::string::npos;
  });
  const std::uint64_t steps = ledger_end(world, 0).steps;
  world.write_keyed(AttachUsersWorld::values_of_users(600, 3));
  wait_until([&] { return ledger_end(world, 0).steps > steps + 10; });
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait().code, 0);
  EXPECT_TRUE(world.releases(2).empty());
  EXPECT_TRUE(world.committed(world.name() + ".ledger", 2).empty());
}

// A promise about records says nothing about users. Nothing is written, so that the stream can go on by record.
TEST(AttachUsers, AreRefusedOverALedgerOfRecordsWhichGoesOn) {
  const AttachUsersWorld world;
  const std::vector<std::string> by_record = joined_arguments(seeded, {"--set", "privacy.unit=\"record\""});
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(900);
  world.write({values.begin(), values.begin() + 500});
  ASSERT_EQ(world.run(by_record).code, 0);
  const auto left = [&] {
    std::vector<std::size_t> ends;
    for (const char* topic : {".releases", ".ledger", ".state", ".users"}) {
      ends.push_back(read_uncommitted_records(world.direct(), world.name() + topic, 0).size());
    }
    return ends;
  };
  const std::vector<std::size_t> before = left();
  world.write({values.begin() + 500, values.end()});
  const CommandResult renewed = world.run(with_new_epoch(seeded));
  EXPECT_EQ(renewed.code, 78) << renewed.err;
  EXPECT_THAT(
      renewed.err,
      HasSubstr("promised something about records, and a spend of records cannot be converted into one of users"));
  const CommandResult resumed = world.run(seeded);
  EXPECT_EQ(resumed.code, 65) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("with other topics: promises about records and about users do not add up"));
  EXPECT_EQ(left(), before);
  const CommandResult kept = world.run(by_record);
  ASSERT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(ledger_end(world).to, values.size());
}

TEST(AttachUsers, RefuseATopicThatForgetsThem) {
  const AttachUsersWorld world;
  alter_topic(world.direct(), world.users_topic(), {{"cleanup.policy", "delete"}});
  CommandResult result = world.run({"--until-end"});
  EXPECT_EQ(result.code, 78) << result.err;
  EXPECT_THAT(result.err, HasSubstr("kafka.user_topic"));
  delete_topic(world.direct(), world.users_topic());
  result = world.run({"--until-end"});
  EXPECT_EQ(result.code, 78) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("kafka.user_topic"), HasSubstr("does not exist")));
}

// A topic that takes only small records gets more of them.
TEST(AttachUsers, WriteRecordsThatTheTopicTakes) {
  const AttachUsersWorld world;
  alter_topic(world.direct(), world.users_topic(), {{"cleanup.policy", "compact"}, {"max.message.bytes", "900"}});
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(1500);
  world.write({values.begin(), values.begin() + 1000});
  const CommandResult first = world.run(seeded);
  ASSERT_EQ(first.code, 0) << first.err;
  world.write({values.begin() + 1000, values.end()});
  const CommandResult second = world.run(seeded);
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_GE(expect_same_estimates(world.releases(), replayed(world, values, 7)), 25U);
  for (const StoredRecord& record : world.committed(world.users_topic())) EXPECT_LE(record.value->size(), 900U);
}

}  // namespace
}  // namespace nustream::tests
