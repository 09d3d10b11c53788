// The real command under a real key is killed while it keeps its witness. It goes on after every kill and is never
// refused, while a copy from before the last kills is.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "campaign.h"
#include "command.h"
#include "journal/failpoint.h"
#include "replay_world.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;

constexpr int killed = 128 + SIGKILL;

class KilledWitness : public ::testing::Test {
 protected:
  // 6,000 records in batches of 100 make sixty commits.
  const ReplayWorld world{6000};
  const std::vector<std::string> settings{"--set",  "state.commit_records=100",
                                          "--set",  "state.commit_seconds=1e9",
                                          "--set",  "state.key_directory=\"" + world.path("keys") + "\"",
                                          "--quiet"};

  [[nodiscard]] std::vector<std::string> arguments(const std::string& state) const {
    std::vector<std::string> run = settings;
    if (fs::exists(world.path(state + "/state"))) run.push_back("--resume");
    return world.replay(run, state);
  }
};

TEST_F(KilledWitness, AtEveryNamedPlaceGoesOn) {
  int kills = 0;
  for (const std::string_view place : journal::witness_failpoints) {
    for (const int count : {1, 2}) {
      const std::string state = std::string(place) + std::to_string(count);
      const std::string failpoint = "NUSTREAM_FAILPOINT=" + std::string(place) + ":" + std::to_string(count);
      for (int life = 0; life < 3; ++life) {
        const CommandResult result = run_command(NUSTREAM_FAULTY, arguments(state), {}, {failpoint});
        ASSERT_TRUE(result.code == killed || (result.code == 0 && count > 1)) << state << ": " << result.err;
        kills += result.code == killed ? 1 : 0;
      }
      const CommandResult last = run_command(NUSTREAM_COMMAND, arguments(state));
      ASSERT_EQ(last.code, 0) << state << ": " << last.err;
      const std::string releases = world.releases(state);
      EXPECT_EQ(std::count(releases.begin(), releases.end(), '\n'), 60);
    }
  }
  RecordProperty("kills", kills);
  EXPECT_GE(kills, 3 * static_cast<int>(journal::witness_failpoints.size()));
}

TEST_F(KilledWitness, AtRandomMomentsIsNeverRefused) {
  std::mt19937_64 bits(asked("NUSTREAM_SEED", 29));
  const int wanted = static_cast<int>(asked("NUSTREAM_KILLS", static_cast<std::uint64_t>(scaled(1000, 30))));
  int kills = 0;
  int refused_copies = 0;
  for (int attempt = 0; kills < wanted && attempt < 40 * wanted; ++attempt) {
    const std::string state = "random" + std::to_string(attempt);
    for (int life = 0; life < 4; ++life) {
      Command command(NUSTREAM_COMMAND, arguments(state));
      ::usleep(static_cast<useconds_t>(2000 + bits() % 60000));
      command.signal(SIGKILL);
      const CommandResult result = command.wait();
      ASSERT_TRUE(result.code == killed || result.code == 0) << state << ": " << result.err;
      kills += result.code == killed ? 1 : 0;
    }
    const bool has_copy = fs::exists(world.path(state + "/state"));
    if (has_copy) {
      fs::copy(world.path(state), world.path("copy"), fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    }
    const std::string before = has_copy ? read_file(world.path(state + "/releases.jsonl")) : "";
    const CommandResult last = run_command(NUSTREAM_COMMAND, arguments(state));
    ASSERT_EQ(last.code, 0) << state << ": " << last.err;
    if (has_copy && read_file(world.path(state + "/releases.jsonl")).size() > before.size()) {
      fs::remove_all(world.path(state));
      fs::rename(world.path("copy"), world.path(state));
      EXPECT_EQ(run_command(NUSTREAM_COMMAND, arguments(state)).code, 65) << state << ": an older copy";
      ++refused_copies;
    }
    fs::remove_all(world.path("copy"));
    fs::remove_all(world.path(state));
  }
  RecordProperty("kills", kills);
  RecordProperty("older copies refused", refused_copies);
  EXPECT_GE(kills, wanted);
  EXPECT_GT(refused_copies, 0);
}

}  // namespace
}  // namespace nustream::tests
