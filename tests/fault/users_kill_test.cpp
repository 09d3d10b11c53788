// A replay by user under a real key is killed at every place where its store or its journal could be left between two
// states. It goes on with what was committed, and nobody counts again.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "campaign.h"
#include "journal/failpoint.h"
#include "users_windows_world.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;

constexpr int killed = 128 + SIGKILL;

class KilledReplayOfUsers : public ::testing::Test {
 protected:
  const UsersWindowsWorld world;  // it makes 20 commits
  std::vector<std::string> settings;

  [[nodiscard]] std::vector<std::string> arguments(const std::string& state) const {
    std::vector<std::string> run = with({"--insecure-seed", "7", "--quiet"}, settings);
    if (fs::exists(world.path(state + "/state"))) run.emplace_back("--resume");
    return world.replay(run, state);
  }
  void expect_same(const std::string& state) const {
    const CommandResult last = run_command(NUSTREAM_COMMAND, arguments(state));
    ASSERT_EQ(last.code, 0) << state << ": " << last.err;
    EXPECT_EQ(world.releases(state), whole) << state;
  }
  void is_killed_at_every_named_place();
  void SetUp() override {
    ASSERT_EQ(run_command(NUSTREAM_COMMAND, arguments("whole")).code, 0);
    whole = world.releases("whole");
    ASSERT_EQ(std::count(whole.begin(), whole.end(), '\n'), 100);
  }
  std::string whole;
};

/// The table empties some 14 times, in the middle of batches and at their ends.
class KilledReplayWithinWindows : public KilledReplayOfUsers {
 protected:
  KilledReplayWithinWindows() { settings = UsersWindowsWorld::within_a_day(); }
};

/// The table is a cache in a folder beside the store.
class KilledReplayOfUsersOnDisk : public KilledReplayWithinWindows {
 protected:
  KilledReplayOfUsersOnDisk() { settings = with(settings, {"--set", "users.store=disk"}); }
};

void KilledReplayOfUsers::is_killed_at_every_named_place() {
  std::vector<std::string_view> places(journal::failpoints.begin(), journal::failpoints.end());
  places.insert(places.end(), journal::users_failpoints.begin(), journal::users_failpoints.end());
  int kills = 0;
  for (const std::string_view place : places) {
    for (const int count : {1, 3}) {
      const std::string state = std::string(place) + std::to_string(count);
      const std::string failpoint = "NUSTREAM_FAILPOINT=" + std::string(place) + ":" + std::to_string(count);
      for (int life = 0; life < 3; ++life) {
        const CommandResult result = run_command(NUSTREAM_FAULTY, arguments(state), {}, {failpoint});
        ASSERT_TRUE(result.code == killed || result.code == 0) << state << ": " << result.err;
        kills += result.code == killed ? 1 : 0;
      }
      expect_same(state);
    }
  }
  // Some places are passed at a resume, or at the end, alone.
  EXPECT_GE(kills, 3 * 2 * static_cast<int>(places.size() - 10));
}

TEST_F(KilledReplayOfUsers, AtEveryNamedPlaceGoesOnAsIfItHadNotBeen) {
  is_killed_at_every_named_place();
}

TEST_F(KilledReplayWithinWindows, AtEveryNamedPlaceGoesOnAsIfItHadNotBeen) {
  ASSERT_GT(UsersWindowsWorld::days(), 10U);
  is_killed_at_every_named_place();
}

TEST_F(KilledReplayOfUsersOnDisk, AtEveryNamedPlaceGoesOnAsIfItHadNotBeen) {
  is_killed_at_every_named_place();
}

// Another column empties the table, and another mass restates it. Until the new epoch's first commit the folder is in
// the old epoch, which goes on as if nothing had been asked for.
TEST_F(KilledReplayOfUsers, BeforeANewEpochsFirstCommitIsInTheOldOne) {
  for (const std::string change : {"privacy.user=y", "users.participations=2"}) {
    for (const char* place : {"during-write-users", "after-write-users", "after-sync-users"}) {
      const std::string state = change.substr(0, 7) + place;
      ASSERT_EQ(world.run({"--insecure-seed", "7", "--quiet", "--to", "1000"}, state).code, 0);
      const CommandResult next = run_command(
          NUSTREAM_FAULTY, world.replay({"--insecure-seed", "7", "--quiet", "--new-epoch", "--set", change}, state),
          {}, {"NUSTREAM_FAILPOINT=" + std::string(place) + ":1"});
      ASSERT_EQ(next.code, killed) << state << ": " << next.err;
      const CommandResult last = run_command(NUSTREAM_COMMAND, arguments(state));
      ASSERT_EQ(last.code, 0) << state << ": " << last.err;
      const std::string releases = world.releases(state);
      EXPECT_EQ(std::count(releases.begin(), releases.end(), '\n'), 100) << state;
      EXPECT_EQ(releases.substr(releases.size() / 2),
                whole.substr(whole.size() - (releases.size() - releases.size() / 2)))
          << state;
    }
  }
}

TEST_F(KilledReplayOfUsers, AtRandomMomentsGoesOnAsIfItHadNotBeen) {
  std::mt19937_64 bits(asked("NUSTREAM_SEED", 31));
  const int wanted = static_cast<int>(asked("NUSTREAM_KILLS", static_cast<std::uint64_t>(scaled(1000, 30))));
  int kills = 0;
  for (int attempt = 0; kills < wanted && attempt < 40 * wanted; ++attempt) {
    const std::string state = "random" + std::to_string(attempt);
    for (int life = 0; life < 4; ++life) {
      Command command(NUSTREAM_COMMAND, arguments(state));
      ::usleep(static_cast<useconds_t>(2000 + bits() % 40000));
      command.signal(SIGKILL);
      const CommandResult result = command.wait();
      ASSERT_TRUE(result.code == killed || result.code == 0) << state << ": " << result.err;
      kills += result.code == killed ? 1 : 0;
    }
    expect_same(state);
    fs::remove_all(world.path(state));
  }
  EXPECT_GE(kills, wanted);
  ::testing::Test::RecordProperty("kills", kills);
}

}  // namespace
}  // namespace nustream::tests
