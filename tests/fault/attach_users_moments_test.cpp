// Running sums by user on a real broker. A user's rows in a batch are one contribution, and through stops and kills
// the attached service releases what a replay of the same records releases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach_users_world.h"
#include "journal/failpoint.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t batch = 50;

std::vector<std::string> sums_with(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"--set", "model.estimator=moments",  "--set", "moments.row_norm=4",
                                     "--set", "moments.residual_bound=4", "--set", "release.every=50"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}
const std::vector<std::string> attached{"--until-end",
                                        "--insecure-seed",
                                        "7",
                                        "--set",
                                        "state.commit_records=100",
                                        "--set",
                                        "kafka.group_instance_id=\"one\"",
                                        "--set",
                                        "kafka.transaction_seconds=6"};

/// A world whose sums are by record, to compare with.
std::string estimate_at_end(const std::string& releases) {
  const auto all = estimates_of(releases);
  return all.empty() ? std::string() : all.rbegin()->second;
}

TEST(AttachUsersMoments, CountOnWhereTheyWereStoppedAndReleaseWhatAReplayDoes) {
  for (const std::string_view limits : {"users.separation=2", "users.mass=1.5"}) {
    SCOPED_TRACE(limits);
    const AttachUsersWorld world;
    const std::vector<std::string> limited{"--set", std::string(limits)};
    const std::vector<std::string> values = AttachUsersWorld::values_of_users(1500);
    std::vector<std::string> arguments = attached;
    arguments.insert(arguments.end(), limited.begin(), limited.end());
    for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{0, 430}, {430, 800}, {800, 1500}}) {
      world.write(
          {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end)});
      const CommandResult part = world.run(sums_with(arguments));
      ASSERT_EQ(part.code, 0) << part.err;
      EXPECT_EQ(ledger_end(world).to, end / batch * batch) << "whole batches alone";
    }
    const std::string expected = replayed(world, values, 7, 0, sums_with(limited));
    EXPECT_THAT(expected, HasSubstr(R"("protects":"user")"));
    EXPECT_TRUE(joined(world.releases()) == expected);
    // The limits have an effect; otherwise nothing was compared.
    const std::string free = replayed(world, values, 8, 0, sums_with({"--set", "users.participations=1000"}));
    EXPECT_NE(estimate_at_end(expected), estimate_at_end(free));
  }
}

TEST(AttachUsersMoments, KilledAtEveryBoundaryOfATransactionTheyLeaveWhatAnUndisturbedRunLeaves) {
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(600);
  for (const std::string_view place : journal::topic_failpoints) {
    if (place == "after-abort-transaction") continue;  // no transaction aborts here: see attach_abort_test.cpp
    const bool once_a_run = place == "after-init-transactions" || place == "after-read-state";
    const int passage = once_a_run ? 1 : 3;
    SCOPED_TRACE(std::string(place) + ":" + std::to_string(passage));
    const AttachUsersWorld world;
    world.write(values);
    const CommandResult killed =
        run_command(NUSTREAM_FAULTY, world.attach(sums_with(attached)), {},
                    {"NUSTREAM_FAILPOINT=" + std::string(place) + ":" + std::to_string(passage)});
    EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
    const CommandResult finished = world.run(sums_with(attached));
    ASSERT_EQ(finished.code, 0) << finished.err;
    EXPECT_TRUE(joined(world.releases()) == replayed(world, values, 7, 0, sums_with({})));
    expect_one_value_a_step(world.releases_uncommitted());
  }
}

// For sums as for steps, a user's lane is that of the key: in another lane a record adds nothing.
TEST(AttachUsersMoments, CountEachUserInTheLaneOfItsKeyAlone) {
  const AttachUsersWorld world(2, "@key");
  std::vector<StoredRecord> records;
  std::vector<std::string> that_count;
  for (const std::string& value : AttachUsersWorld::values_of_users(400)) {
    const std::string user = AttachUsersWorld::user_of(value);
    records.push_back({user, value});
    that_count.push_back(partition_of(user, 2) == 0 ? value : "0" + value.substr(value.find(',')));
  }
  write_records(world.direct(), world.name(), 0, records);
  const CommandResult result = world.run(sums_with(attached));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(expect_same_estimates(world.releases(),
                                  replayed(world, that_count, 7, 0, sums_with({"--set", "privacy.user=\"who\""}))),
            400 / batch);
}

}  // namespace
}  // namespace nustream::tests
