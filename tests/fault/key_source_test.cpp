// Noise keys come from the kernel's random source and from nothing else. The command runs with a source that a test
// controls (support/key_source.cpp).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/mechanism.h"
#include "drawn_keys.h"
#include "journal/state_record.h"
#include "replay_world.h"
#include "secrets/hex.h"
#include "secrets/key_file.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

const std::string preload = "LD_PRELOAD=" NUSTREAM_KEY_SOURCE;
// For a build under the address sanitizer, whose runtime asks to be loaded first.
const std::string in_any_order = "ASAN_OPTIONS=verify_asan_link_order=0";

/// The source fails for any reason: an old kernel, a filter of system calls, a pool that is not ready, or no reason
/// at all.
TEST(KeySource, ThatFailsIs77AndNothingIsReleased) {
  for (const int error : {ENOSYS, EPERM, EAGAIN, EINVAL, EFAULT, EIO, ENOMEM, EACCES, EOPNOTSUPP, 0}) {
    SCOPED_TRACE("errno " + std::to_string(error));
    const ReplayWorld world(200);
    secrets::create_key_file(world.path("key"));
    const std::vector<std::string> arguments =
        world.replay({"--set", "state.key_file=\"" + world.path("key") + "\""});
    const CommandResult result = run_command(
        NUSTREAM_COMMAND, arguments, {}, {preload, in_any_order, "NUSTREAM_SOURCE_ERRNO=" + std::to_string(error)});
    EXPECT_EQ(result.code, 77) << result.err;
    EXPECT_THAT(result.err, HasSubstr("getrandom"));
    EXPECT_EQ(result.out.find("200"), std::string::npos) << result.out;
    for (const char* name : {"releases.jsonl", "state", "ledger"}) {
      EXPECT_FALSE(std::filesystem::exists(world.path("state") + "/" + name)) << name;
    }
  }
}

// A resumed run draws the bytes of its new segment before its first step.
TEST(KeySource, ThatFailsStopsAResumedRunBeforeAStep) {
  const ReplayWorld world(200);
  ASSERT_EQ(world.run({"--to", "100"}).code, 0);
  const std::string releases = world.releases();
  const std::string state = read_file(world.path("state/state"));
  const CommandResult result = run_command(NUSTREAM_COMMAND, world.replay({"--resume"}), {}, {preload, in_any_order});
  EXPECT_EQ(result.code, 77);
  EXPECT_THAT(result.err, HasSubstr("getrandom"));
  EXPECT_EQ(world.releases(), releases);
  EXPECT_EQ(read_file(world.path("state/state")), state);
}

TEST(KeySource, ThatFailsMakesNoKeyFile) {
  const ReplayWorld world(1);
  const CommandResult result =
      run_command(NUSTREAM_COMMAND, {"key", "new", world.path("key")}, {}, {preload, in_any_order});
  EXPECT_EQ(result.code, 77);
  EXPECT_FALSE(std::filesystem::exists(world.path("key")));
}

/// The state that a run left, under the key file of its folder unless another one is named.
journal::State state_of(const ReplayWorld& world, const std::string& folder, const std::string& key_file = {}) {
  const std::string key = key_file.empty() ? world.path(folder + "/key") : key_file;
  return journal::open_state(secrets::load_key_file(key), read_file(world.path(folder + "/state")));
}

TEST(KeySource, TheEpochsKeyIsExactlyWhatItHandedOut) {
  const ReplayWorld world(200);
  const std::string handed_out = world.path("handed-out");
  const CommandResult result = run_command(NUSTREAM_COMMAND, world.replay({}), {}, with_own_source(handed_out));
  ASSERT_EQ(result.code, 0) << result.err;
  const auto key = drawn_key_of(state_of(world, "state"), keys_handed_out(handed_out));
  ASSERT_TRUE(key) << "no draw of the system's";
  EXPECT_NE(std::string(key->begin(), key->end()), read_file(world.path("state/key")));
}

/// Two folders under one key file, with three epochs in each. Every epoch begins with 256 bits that the system handed
/// out to that very run, and no two begin with the same.
TEST(KeySource, LaterEpochsOfTwoFoldersDrawTheirOwnKeys) {
  const ReplayWorld world(200);
  const std::string key_file = world.path("shared.key");
  secrets::create_key_file(key_file);
  std::set<noise::KeyBytes> keys;
  int runs = 0;
  for (const char* epoch : {"", "--new-epoch", "--new-epoch"}) {
    for (const char* folder : {"a", "b"}) {
      SCOPED_TRACE(std::string(folder) + " " + epoch);
      const std::string handed_out = world.path("handed-out-" + std::to_string(++runs));
      std::vector<std::string> more{"--set", "state.key_file=\"" + key_file + "\""};
      if (*epoch != '\0') more.insert(more.end(), {epoch, "--from", "0"});
      const CommandResult result =
          run_command(NUSTREAM_COMMAND, world.replay(more, folder), {}, with_own_source(handed_out, runs));
      ASSERT_EQ(result.code, 0) << result.err;
      const journal::State state = state_of(world, folder, key_file);
      EXPECT_EQ(state.identity.epoch.value(), static_cast<std::uint32_t>((runs - 1) / 2));
      const auto key = drawn_key_of(state, keys_handed_out(handed_out));
      ASSERT_TRUE(key) << "no draw of the system's";
      EXPECT_TRUE(keys.insert(*key).second) << "a key of another epoch";
    }
  }
}

/// Four segments begin in these runs: the epoch's, one where it is resumed, and one at each of two borders of blocks.
/// What the later three mix in is exactly what the system handed out to the run in which they begin.
TEST(KeySource, LaterSegmentsMixInExactlyWhatItHandedOut) {
  const ReplayWorld world(20'000);
  const auto drawn_by = [&](const std::vector<std::string>& options, int number) {
    const std::string handed_out = world.path("handed-out-" + std::to_string(number));
    const CommandResult result =
        run_command(NUSTREAM_COMMAND, world.replay(options), {}, with_own_source(handed_out, number));
    EXPECT_EQ(result.code, 0) << result.err;
    return keys_handed_out(handed_out);
  };
  static_cast<void>(drawn_by({"--to", "100"}, 1));
  const journal::State before = state_of(world, "state");
  ASSERT_EQ(before.identity.steps, StepCount{100});
  const std::vector<noise::KeyBytes> drawn = drawn_by({"--resume"}, 2);
  const journal::State after = state_of(world, "state");
  ASSERT_EQ(after.identity.steps, StepCount{20'000});
  const config::Mechanism mechanism =
      config::make_mechanism(config::read_config(world.config(), {}), privacy::Participation::once());
  const auto mixed = mixed_in(mechanism, before, after, true, drawn);
  ASSERT_TRUE(mixed) << "a segment has mixed in something else";
  EXPECT_EQ(mixed->size(), 3U);
  EXPECT_EQ(std::set<noise::KeyBytes>(mixed->begin(), mixed->end()).size(), mixed->size());
}

/// The source hands out five bytes at a time, between signals. All 32 bytes of a key still come from it.
TEST(KeySource, ThatHandsOutLittleAtATimeIsAskedUntilAKeyIsWhole) {
  const ReplayWorld world(200);
  const std::string handed_out = world.path("handed-out");
  const CommandResult result =
      run_command(NUSTREAM_COMMAND, world.replay({}), {},
                  {preload, in_any_order, "NUSTREAM_HANDED_OUT=" + handed_out, "NUSTREAM_SOURCE_BYTES_MAX=5"});
  ASSERT_EQ(result.code, 0) << result.err;
  std::string all;
  std::istringstream lines(read_file(handed_out));
  for (std::string line; std::getline(lines, line);) all += line;
  std::vector<noise::KeyBytes> windows;  // from every byte, since draws of other sizes stand between keys
  for (std::size_t at = 0; at + 64 <= all.size(); at += 2) {
    noise::KeyBytes key{};
    if (secrets::from_hex(all.substr(at, 64), key)) windows.push_back(key);
  }
  EXPECT_TRUE(drawn_key_of(state_of(world, "state"), windows)) << "not the system's bits alone";
}

}  // namespace
}  // namespace nustream::tests
