// What an operator may do with the users of a topic: look at them, close some, end them all, and begin anew under
// another key. These are the steps of docs/users.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attach_users_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Settings with so large a rho that noise is nothing, and without a limit that anybody reaches by taking part.
const std::vector<std::string> hardly_limited{"--set", "descent.minibatch=1", "--set", "users.participations=1000",
                                              "--set", "users.separation=1",  "--set", "privacy.rho=1e10",
                                              "--set", "release.every=1",     "--set", "descent.step_size=0.05"};

class AttachedUsers : public AttachUsersWorld {
 public:
  using AttachUsersWorld::AttachUsersWorld;

  [[nodiscard]] CommandResult go_on(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"--until-end"};
    all.insert(all.end(), hardly_limited.begin(), hardly_limited.end());
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }
  [[nodiscard]] std::vector<std::string> editing(const char* command) const {
    std::vector<std::string> all{"users", command, config()};
    all.insert(all.end(), hardly_limited.begin(), hardly_limited.end());
    return all;
  }
  [[nodiscard]] CommandResult edit(const char* command, const std::string& identifiers = "") const {
    return run_command(NUSTREAM_COMMAND, editing(command), folder().write("identifiers", identifiers));
  }
  /// How many entries there are, and how many at their limits, over all lanes.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> counts() const {
    const CommandResult seen = run_command(NUSTREAM_COMMAND, {"inspect", config(), "--users", "--json"});
    EXPECT_EQ(seen.code, 0) << seen.err;
    std::pair<std::uint64_t, std::uint64_t> sum{0, 0};
    simdjson::dom::parser parser;
    const simdjson::dom::array lanes = parser.parse(seen.out).get_array().value();
    for (const simdjson::dom::element lane : lanes) {
      const simdjson::dom::element users = lane["users"];
      EXPECT_FALSE(users["private"].get_bool().value());
      sum.first += users["entries"].get_uint64().value();
      sum.second += users["at_limit"].get_uint64().value();
    }
    return sum;
  }
  /// The slope of the lane's last release.
  [[nodiscard]] double slope(int lane = 0) const { return last(lane)["estimate"]["x"].get_double().value(); }
  [[nodiscard]] double spent(int lane = 0) const { return last(lane)["rho_ledger"].get_double().value(); }

 private:
  [[nodiscard]] simdjson::dom::element last(int lane) const { return parser_.parse(releases(lane).back()); }

  mutable simdjson::dom::parser parser_;
};

std::string everybody() {
  std::string identifiers = "nobody has seen me\r\n";
  for (int who = 1; who < 61; ++who) identifiers += std::to_string(who) + "\n";
  return identifiers;
}

/// The users in values that values_of_users() made.
std::set<std::string> users_of(const std::vector<std::string>& values) {
  std::set<std::string> users;
  for (const std::string& value : values) {
    if (value.find("unusable") == std::string::npos) users.insert(AttachUsersWorld::user_of(value));
  }
  users.erase("0");
  return users;
}

TEST(AttachedUsers, AreCountedForTheOperatorAloneWhetherOrNotItRuns) {
  const AttachedUsers world(2, "@key");
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(600);
  world.write_keyed(values);
  ASSERT_EQ(world.go_on().code, 0);
  EXPECT_EQ(world.counts(), std::pair(users_of(values).size(), std::size_t{0}));
  const CommandResult shown = run_command(NUSTREAM_COMMAND, {"inspect", world.config()});
  EXPECT_THAT(shown.out, Not(HasSubstr("users,")));
  std::vector<std::string> arguments = world.attach(hardly_limited);
  Command running(NUSTREAM_COMMAND, arguments);
  const std::uint64_t before = ledger_end(world, 0).steps;
  world.write_keyed(AttachUsersWorld::values_of_users(3000, 2));
  wait_until([&] { return ledger_end(world, 0).steps > before; });
  EXPECT_LE(world.counts().first, 60U);
  const CommandResult refused = world.edit("close", "1\n");
  EXPECT_EQ(refused.code, 75) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("stop every instance first"));
  running.signal(SIGTERM);
  EXPECT_EQ(running.wait().code, 0);
}

// A person asks to be erased. Once closed, the user counts in no step, no epoch, and no lane of any other number of
// lanes.
TEST(AttachedUsers, DoNotCountAgainWhereTheyAreClosed) {
  const AttachedUsers world(2, "@key");
  world.write_keyed(AttachUsersWorld::values_of_users(600));
  ASSERT_EQ(world.go_on().code, 0);
  const std::vector<double> before{world.slope(0), world.slope(1)};
  EXPECT_GT(std::abs(before[0]), 1e-2);
  const CommandResult closed = world.edit("close", everybody());
  ASSERT_EQ(closed.code, 0) << closed.err;
  EXPECT_THAT(closed.out, HasSubstr("61 identifiers are closed"));
  EXPECT_EQ(world.counts(), (std::pair<std::uint64_t, std::uint64_t>{61, 61}));
  const auto expect_unmoved = [&](const CommandResult& result) {
    EXPECT_EQ(result.code, 0) << result.err;
    for (const int lane : {0, 1}) EXPECT_NEAR(world.slope(lane), before[static_cast<std::size_t>(lane)], 1e-3);
  };
  world.write_keyed(AttachUsersWorld::values_of_users(400, 2));
  const std::uint64_t steps = ledger_end(world, 0).steps;
  expect_unmoved(world.go_on());
  EXPECT_GT(ledger_end(world, 0).steps, steps);
  world.write_keyed(AttachUsersWorld::values_of_users(400, 3));
  expect_unmoved(world.go_on({"--new-epoch"}));
  world.add_partitions_to_all(3);
  world.write_among(AttachUsersWorld::values_of_users(600, 4), 3);
  expect_unmoved(world.go_on({"--new-epoch"}));
  EXPECT_NEAR(world.slope(2), 0, 1e-3);
  EXPECT_EQ(world.counts().second, 3 * 61U) << "each lane knows all who were closed";
}

// A closed user's entry keeps the number by which it was closed, which says nothing about its lane under another
// partitioner. So the user has to be closed in every lane, also behind a later change of the number of lanes.
TEST(AttachedUsers, StayClosedBehindAnotherPartitionerAndThenMoreLanes) {
  const AttachedUsers world(2, "@key");
  world.write_keyed(AttachUsersWorld::values_of_users(600));
  ASSERT_EQ(world.go_on().code, 0);
  const std::vector<double> before{world.slope(0), world.slope(1)};
  const CommandResult closed = world.edit("close", everybody());
  ASSERT_EQ(closed.code, 0) << closed.err;
  const std::vector<std::string> anew{"--new-epoch", "--set", "users.partitioner=\"crc32\""};
  const auto expect_unmoved = [&](int lanes, std::uint64_t seed) {
    world.write_among(AttachUsersWorld::values_of_users(600, seed), lanes, rd_kafka_msg_partitioner_consistent);
    const CommandResult result = world.go_on(anew);
    EXPECT_EQ(result.code, 0) << result.err;
    for (const int lane : {0, 1}) EXPECT_NEAR(world.slope(lane), before[static_cast<std::size_t>(lane)], 1e-3);
  };
  expect_unmoved(2, 2);
  world.add_partitions_to_all(3);
  expect_unmoved(3, 3);
  EXPECT_NEAR(world.slope(2), 0, 1e-3);
  EXPECT_GT(ledger_end(world, 2).steps, 100U) << "the third lane took its users' records";
}

TEST(AttachedUsers, AndOthersGoOn) {
  const AttachedUsers world(2, "@key");
  world.write_keyed(AttachUsersWorld::values_of_users(100));
  ASSERT_EQ(world.go_on().code, 0);
  const double before = world.slope();
  ASSERT_EQ(world.edit("close", "17\n").code, 0);
  std::vector<std::string> values = AttachUsersWorld::values_of_users(2000, 2);
  std::erase_if(values, [](const std::string& value) { return AttachUsersWorld::user_of(value) != "17"; });
  ASSERT_GT(values.size(), 20U);
  world.write_keyed(values);
  const int lane = partition_of("17", 2);
  const double slope = world.slope(lane);
  ASSERT_EQ(world.go_on().code, 0);
  EXPECT_NEAR(world.slope(lane), slope, 1e-3);
  world.write_keyed(AttachUsersWorld::values_of_users(400, 3));
  ASSERT_EQ(world.go_on().code, 0);
  EXPECT_GT(std::abs(world.slope() - before), 1e-2);
}

// What was released stays. What the last state still owed is published by whoever opens it next.
TEST(AttachedUsers, OweTheirReleasesAsBefore) {
  const AttachedUsers world;
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(1000);
  const std::vector<std::string> seeded{"--until-end", "--insecure-seed", "7"};
  world.write({values.begin(), values.begin() + 500});
  ASSERT_EQ(world.run(seeded).code, 0);
  const CommandResult closed =
      run_command(NUSTREAM_COMMAND, {"users", "close", world.config(), "--insecure-seed", "7"},
                  world.folder().write("identifiers", "a person who never came\n"));
  ASSERT_EQ(closed.code, 0) << closed.err;
  world.write({values.begin() + 500, values.end()});
  const CommandResult second = world.run(seeded);
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_GE(expect_same_estimates(world.releases(), replayed(world, values, 7)), 15U);
  expect_one_value_a_step(world.releases_uncommitted());
}

// The stream takes its users from another column. They count from nothing, both epochs are charged, and those who
// were closed stay closed.
TEST(AttachedUsers, AreOthersUnderAnotherColumnButForTheClosed) {
  AttachedUsers world;
  world.write(AttachUsersWorld::values_of_users(300));
  ASSERT_EQ(world.go_on().code, 0);
  const double before = world.slope();
  const double spent = world.spent();
  const CommandResult closed = world.edit("close", everybody());
  ASSERT_EQ(closed.code, 0) << closed.err;
  world.change_config({{R"(columns = ["who", "x", "y"])", R"(columns = ["account", "x", "y"])"},
                       {R"(user = "who")", R"(user = "account")"}});
  world.write(AttachUsersWorld::values_of_users(300, 2));
  const CommandResult refused = world.go_on();
  EXPECT_EQ(refused.code, 65) << refused.err;
  ASSERT_EQ(world.go_on({"--new-epoch"}).code, 0);
  EXPECT_NEAR(world.slope(), before, 1e-3);
  EXPECT_GT(world.spent(), 1.2 * spent);
  std::vector<std::string> values = AttachUsersWorld::values_of_users(300, 3);
  for (std::string& value : values) value.insert(0, "new-");
  world.write(values);
  ASSERT_EQ(world.go_on().code, 0);
  EXPECT_GT(std::abs(world.slope() - before), 1e-2);
}

TEST(AttachedUsers, AreForgottenAtTheEndOfTheStreamAndCharged) {
  const AttachedUsers world(2, "@key");
  world.write_keyed(AttachUsersWorld::values_of_users(600));
  ASSERT_EQ(world.go_on().code, 0);
  // A change of lanes leaves a closing mark, which nobody can open any more either.
  world.add_partitions_to_all(3);
  world.write_among(AttachUsersWorld::values_of_users(300, 2), 3);
  ASSERT_EQ(world.go_on({"--new-epoch"}).code, 0);
  const double spent = world.spent();
  const CommandResult ended = world.edit("end");
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const int lane : {0, 1, 2}) {
    std::map<std::string, bool> there;
    for (const StoredRecord& record : world.committed(world.users_topic(), lane)) {
      there[record.key.value_or("")] = record.value.has_value();
    }
    EXPECT_FALSE(there.empty()) << lane;
    for (const auto& [key, is_there] : there) EXPECT_FALSE(is_there) << key;
  }
  const CommandResult again = world.go_on();
  EXPECT_EQ(again.code, 65) << again.err;
  EXPECT_THAT(again.err, AllOf(HasSubstr("holds no users"), HasSubstr("--new-epoch")));
  EXPECT_EQ(world.edit("end").code, 65);
  EXPECT_EQ(world.edit("close", "1\n").code, 65);
  world.write_among(AttachUsersWorld::values_of_users(600, 3), 3);
  const CommandResult next = world.go_on({"--new-epoch"});
  ASSERT_EQ(next.code, 0) << next.err;
  EXPECT_GT(world.spent(), 1.2 * spent);
}

// The stream begins anew under the old name of the column: the store is removed, and both epochs are charged.
TEST(AttachedUsers, AreChargedForBothKeysWhereTheStoreIsRemoved) {
  const AttachedUsers world(2, "@key");
  world.write_keyed(AttachUsersWorld::values_of_users(600));
  ASSERT_EQ(world.go_on().code, 0);
  const double spent = world.spent();
  world.lose_users(2);
  std::vector<std::string> values = AttachUsersWorld::values_of_users(600, 2);
  for (std::string& value : values) value.insert(0, "new-");
  world.write_keyed(values);
  EXPECT_EQ(world.go_on().code, 65);
  const CommandResult next = world.go_on({"--new-epoch"});
  ASSERT_EQ(next.code, 0) << next.err;
  EXPECT_GT(world.spent(), 1.2 * spent);
  // That happens once: the epoch that began is continued.
  world.write_keyed(AttachUsersWorld::values_of_users(600, 3));
  ASSERT_EQ(world.go_on({"--new-epoch"}).code, 0);
  EXPECT_EQ(world.counts().first, users_of(values).size() + 60);
  EXPECT_THAT(world.releases().back(), HasSubstr(R"("epoch":1,)"));
}

// Users are closed lane by lane, and whatever a crash leaves, the same command finishes.
TEST(AttachedUsers, AreClosedByTheSameCommandAgainWhereItWasKilled) {
  for (const char* place : {"after-produce-state:1", "after-commit-transaction:1", "after-produce-state:2"}) {
    const AttachedUsers world(2, "@key");
    world.write_keyed(AttachUsersWorld::values_of_users(600));
    ASSERT_EQ(world.go_on().code, 0);
    const auto before = world.counts();
    const std::string identifiers = world.folder().write("identifiers", everybody());
    const CommandResult killed = run_command(NUSTREAM_FAULTY, world.editing("close"), identifiers,
                                             {std::string("NUSTREAM_FAILPOINT=") + place});
    EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
    EXPECT_LT(world.counts().second, 61U) << place;
    EXPECT_GE(world.counts().first, before.first) << place;
    const CommandResult closed = world.edit("close", everybody());
    ASSERT_EQ(closed.code, 0) << closed.err;
    EXPECT_EQ(world.counts(), (std::pair<std::uint64_t, std::uint64_t>{61, 61})) << place;
    const CommandResult on = world.go_on();
    EXPECT_EQ(on.code, 0) << on.err;
  }
}

// Nobody is closed where some lane would not know of it.
TEST(AttachedUsers, AreNotClosedWhileALaneIsMissing) {
  const AttachedUsers world(2, "@key");
  EXPECT_EQ(world.edit("close", "1\n").code, 65);
  world.write_keyed(AttachUsersWorld::values_of_users(600));
  ASSERT_EQ(world.go_on().code, 0);
  const auto before = world.counts();
  const StoredRecord state = world.committed(world.name() + ".state", 1).back();
  write_records(world.direct(), world.name() + ".state", 1, {{state.key, std::nullopt}});
  const CommandResult refused = world.edit("close", everybody());
  EXPECT_EQ(refused.code, 65) << refused.err;
  write_records(world.direct(), world.name() + ".state", 1, {state});
  EXPECT_EQ(world.counts(), before);
}

}  // namespace
}  // namespace nustream::tests
