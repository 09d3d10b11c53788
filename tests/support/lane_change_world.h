// Streams on a broker whose users move to other lanes: how they are run, interrupted and judged.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "attach_users_world.h"

namespace nustream::tests {

using Arguments = std::vector<std::string>;

inline Arguments operator+(Arguments first, const Arguments& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

/// With these arguments, a service that was killed leaves the group soon.
inline const Arguments until_end{"--until-end",
                                 "-X",
                                 "session.timeout.ms=2000",
                                 "-X",
                                 "heartbeat.interval.ms=300",
                                 "--set",
                                 "kafka.transaction_seconds=6",
                                 "--set",
                                 "release.every=1"};
inline const Arguments anew{"--new-epoch"};
inline const Arguments accepted{"--accept-gap"};
inline const Arguments another_setting{"--set", "descent.step_size=0.02"};
inline const Arguments other_partitioner{"--set", "users.partitioner=\"crc32\""};

inline std::vector<std::string> ledger_of(const AttachWorld& world, int lane) {
  return values_of(world.committed(world.name() + ".ledger", lane));
}

/// ρ over all epochs for the user whom they cost most, as the lane's last release tells it.
inline double charged_by(const AttachWorld& world, int lane) {
  simdjson::dom::parser parser;
  return parser.parse(world.releases(lane).back())["rho_ledger"].get_double().value();
}

inline std::uint64_t last_epoch(const AttachWorld& world, int lane) {
  const std::vector<std::string> lines = ledger_of(world, lane);
  simdjson::dom::parser parser;
  return lines.empty() ? 0 : parser.parse(lines.back())["epoch"].get_uint64().value();
}

/// Expects that the service runs to its end; it fails where the lanes wait for each other for ever.
inline void expect_ends(const AttachWorld& world, const Arguments& arguments, const std::vector<int>& lanes,
                        std::size_t steps) {
  Command service(NUSTREAM_COMMAND, world.attach(arguments));
  wait_until(
      [&] { return std::ranges::all_of(lanes, [&](int lane) { return ledger_end(world, lane).steps >= steps; }); });
  const CommandResult result = service.wait();
  EXPECT_EQ(result.code, 0) << result.err;
}

/// Closes all old lanes for the new division, and is killed right after its `commits`-th commit.
inline void interrupt_change(const AttachWorld& world, const Arguments& arguments, int commits) {
  const CommandResult killed =
      run_command(NUSTREAM_FAULTY, world.attach(arguments + anew), {},
                  {"NUSTREAM_FAILPOINT=after-commit-transaction:" + std::to_string(commits)});
  ASSERT_EQ(killed.code, 128 + SIGKILL) << killed.err;
}

/// Runs `users close` or `users end` under the settings that the lanes ran with.
inline CommandResult edit_users(const AttachWorld& world, const char* command, const Arguments& settings,
                                const std::string& identifiers = "") {
  Arguments all{"users", command, world.config()};
  for (std::size_t i = 0; i + 1 < settings.size(); ++i) {
    if (settings[i] == "--set") all = all + Arguments{"--set", settings[i + 1]};
  }
  return run_command(NUSTREAM_COMMAND, all, world.folder().write("identifiers", identifiers));
}

/// All sixty users of values_of_users(), and somebody whom no record names.
inline std::vector<std::string> everybody() {
  std::vector<std::string> identifiers{"nobody has seen me"};
  for (int who = 1; who < 61; ++who) identifiers.push_back(std::to_string(who));
  return identifiers;
}
inline void close_everybody(const AttachWorld& world, const Arguments& settings) {
  std::string lines;
  for (const std::string& who : everybody()) lines += who + "\n";
  const CommandResult closed = edit_users(world, "close", settings, lines);
  ASSERT_EQ(closed.code, 0) << closed.err;
}

/// How many users are at their limits in each lane's store.
inline std::vector<std::uint64_t> at_limit_by_lane(const AttachWorld& world) {
  const CommandResult seen = run_command(NUSTREAM_COMMAND, {"inspect", world.config(), "--users", "--json"});
  EXPECT_EQ(seen.code, 0) << seen.err;
  std::vector<std::uint64_t> at_limit;
  simdjson::dom::parser parser;
  const simdjson::dom::array lanes = parser.parse(seen.out).get_array().value();
  for (const simdjson::dom::element lane : lanes) {
    at_limit.push_back(lane["users"]["at_limit"].get_uint64().value());
  }
  return at_limit;
}

/// Two lanes in which each user contributes once. A lane that begins anew pays all of ρ once more.
class TwoLanes : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.write_keyed(AttachUsersWorld::values_of_users(600));
    const CommandResult first = world_.run(one_each_);
    ASSERT_EQ(first.code, 0) << first.err;
    for (const int lane : {0, 1}) one_ = std::max(one_, charged_by(world_, lane));
    EXPECT_GT(one_, .3);
  }
  /// Expects that a new epoch, which all lanes began, charges all of them.
  void expect_all_charged(const std::vector<int>& lanes) const {
    for (const int lane : lanes) {
      EXPECT_THAT(ledger_of(world_, lane).back(), ::testing::HasSubstr(R"("counts":false)")) << lane;
      EXPECT_GT(charged_by(world_, lane), 1.5 * one_) << lane;
    }
  }
  /// Removes the topic `of` (such as ".state") of one lane, as a broker that lost it would have it.
  void lose(const std::string& of, int lane) const {
    const std::vector<StoredRecord> records = world_.committed(world_.name() + of, lane);
    ASSERT_FALSE(records.empty());
    write_records(AttachUsersWorld::direct(), world_.name() + of, lane, {{records.back().key, std::nullopt}});
  }

  const AttachUsersWorld world_{2, "@key"};
  const Arguments one_each_ = until_end + Arguments{"--set", "users.participations=1"};
  double one_ = 0;
};

}  // namespace nustream::tests
