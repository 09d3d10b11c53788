// Where noise keys come from: the kernel's random source and nothing else. The command runs with a source that a test
// holds (support/key_source.cpp).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "journal/sealed_state.h"
#include "replay_world.h"
#include "secrets/hex.h"
#include "secrets/key_file.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

const std::string preload = "LD_PRELOAD=" NUSTREAM_KEY_SOURCE;
// Of a build under the address sanitizer, whose runtime asks to be loaded first.
const std::string in_any_order = "ASAN_OPTIONS=verify_asan_link_order=0";

/// Every 256 bits that were handed out at once.
std::vector<noise::KeyBytes> keys_handed_out(const std::string& file) {
  std::vector<noise::KeyBytes> keys;
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line);) {
    noise::KeyBytes key{};
    if (secrets::from_hex(line, key)) keys.push_back(key);
  }
  return keys;
}

TEST(KeySource, ThatFailsIs77AndNothingIsReleased) {
  const ReplayWorld world(200);
  secrets::create_key_file(world.path("key"));
  const std::vector<std::string> arguments = world.replay({"--set", "state.key_file=\"" + world.path("key") + "\""});
  const CommandResult result = run_command(NUSTREAM_COMMAND, arguments, {}, {preload, in_any_order});
  EXPECT_EQ(result.code, 77);
  EXPECT_THAT(result.err, HasSubstr("getrandom"));
  EXPECT_EQ(result.out.find("200"), std::string::npos) << result.out;
  for (const char* name : {"releases.jsonl", "state", "ledger"}) {
    EXPECT_FALSE(std::filesystem::exists(world.path("state") + "/" + name)) << name;
  }
}

TEST(KeySource, ThatFailsMakesNoKeyFile) {
  const ReplayWorld world(1);
  const CommandResult result =
      run_command(NUSTREAM_COMMAND, {"key", "new", world.path("key")}, {}, {preload, in_any_order});
  EXPECT_EQ(result.code, 77);
  EXPECT_FALSE(std::filesystem::exists(world.path("key")));
}

/// The state's chain key, at block 0 still, is that of exactly one 256 bits of the source, which nothing else is.
TEST(KeySource, TheEpochsKeyIsExactlyWhatItHandedOut) {
  const ReplayWorld world(200);
  const std::string handed_out = world.path("handed-out");
  const CommandResult result = run_command(NUSTREAM_COMMAND, world.replay({}), {},
                                           {preload, in_any_order, "NUSTREAM_HANDED_OUT=" + handed_out});
  ASSERT_EQ(result.code, 0) << result.err;
  const secrets::Keyring keyring = secrets::load_key_file(world.path("state/key"));
  const journal::State state = journal::open_state(keyring, read_file(world.path("state/state")));
  ASSERT_EQ(state.record.noise.stages.size(), 1U);
  ASSERT_EQ(state.record.noise.stages.front().block, 0U);
  const std::string key_file = read_file(world.path("state/key"));
  int found = 0;
  for (const noise::KeyBytes& key : keys_handed_out(handed_out)) {
    const noise::Checkpoint first = noise::first_checkpoint(key, {LaneId{0}, EpochId{0}, 0});
    if (first.chain_key != state.record.noise.stages.front().chain_key) continue;
    ++found;
    EXPECT_NE(std::string(key.begin(), key.end()), key_file);
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace nustream::tests
