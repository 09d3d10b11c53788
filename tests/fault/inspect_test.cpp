// `nustream inspect` of a folder that lost or changed what its state vouches for: whoever asks what was spent must
// not be told less.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <filesystem>
#include <string>

#include "command.h"
#include "replay_world.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

class Inspect : public ::testing::Test {
 protected:
  const ReplayWorld world{1000};
  const std::filesystem::path state = world.path("state");

  void SetUp() override { ASSERT_EQ(world.run({"--to", "500", "--set", "state.commit_records=100"}).code, 0); }
  [[nodiscard]] CommandResult inspect() const { return run_command(NUSTREAM_COMMAND, {"inspect", state.string()}); }
  void write(const std::string& file, const std::string& text) const { world.write("state/" + file, text); }
  [[nodiscard]] std::string read(const std::string& file) const { return read_file(state / file); }
  void expect_refused(const std::string& why) const {
    const CommandResult result = inspect();
    EXPECT_EQ(result.code, 65) << result.out;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(why));
    EXPECT_THAT(result.err, HasSubstr(state.string()));
  }
};

TEST_F(Inspect, TellsWhereARunOfSeveralPassesIs) {
  EXPECT_THAT(inspect().out, HasSubstr("500 steps, next record 500\n"));
  ASSERT_EQ(world.run({"--from", "100", "--to", "200", "--passes", "3"}, "passes").code, 0);
  const CommandResult result = run_command(NUSTREAM_COMMAND, {"inspect", world.path("passes")});
  EXPECT_THAT(result.out, HasSubstr("300 steps, 300 records read, in several passes over those before 200\n"));
}

// What is shown is what was spent by all epochs, not by the last one alone.
TEST_F(Inspect, ShowsTheEpsilonOfAllEpochs) {
  const auto epsilons = [&] {
    const CommandResult json = run_command(NUSTREAM_COMMAND, {"inspect", state.string(), "--json"});
    simdjson::dom::parser parser;
    const auto shown = parser.parse(json.out);
    return std::pair{double{shown["total_epsilon"]}, double{shown["last_release"]["epsilon"]}};
  };
  const auto [first, of_first] = epsilons();
  EXPECT_NEAR(first, of_first, 1e-12);
  ASSERT_EQ(world.run({"--new-epoch", "--from", "0", "--to", "500"}).code, 0);
  const auto [total, of_epoch] = epsilons();
  EXPECT_NEAR(of_epoch, of_first, 1e-12);
  EXPECT_GT(total, 1.3 * of_epoch) << "twice the rho";
  EXPECT_LT(total, 2 * of_epoch);
  EXPECT_THAT(inspect().out, HasSubstr("last release: epoch 1, step 500; of this epoch rho "));
}

TEST_F(Inspect, WithoutItsKeySaysHowOneIsNamed) {
  std::filesystem::rename(std::filesystem::read_symlink(state / "key"), world.path("elsewhere"));
  const CommandResult lost = inspect();
  EXPECT_EQ(lost.code, 77);
  EXPECT_THAT(lost.err, HasSubstr("--key-file names another one, --insecure-seed"));
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", world.path("next")}).code, 0);
  const CommandResult rotated = run_command(NUSTREAM_COMMAND, {"key", "rotate", state.string(), world.path("next")});
  EXPECT_EQ(rotated.code, 77);
  EXPECT_THAT(rotated.err, HasSubstr("--key-file names the one that the state is sealed under"));
}

TEST_F(Inspect, OfALedgerThatLostLinesIsRefused) {
  const std::string ledger = read("ledger");
  ASSERT_EQ(inspect().code, 0);
  // The last line is missing, as where a crash kept it from the file; the state has it.
  const std::size_t last = ledger.rfind('\n', ledger.size() - 2) + 1;
  const std::string whole = inspect().out;
  write("ledger", ledger.substr(0, last));
  EXPECT_EQ(inspect().out, whole);
  write("ledger", ledger.substr(0, ledger.rfind('\n', last - 2) + 1));
  expect_refused("lacks lines that the state knows of");
  std::filesystem::remove(state / "ledger");
  expect_refused("lacks lines that the state knows of");
  write("ledger", ledger);
  EXPECT_EQ(inspect().out, whole);
}

TEST_F(Inspect, OfReleasesThatAreNotThoseOfTheStateIsRefused) {
  const std::string releases = read("releases.jsonl");
  write("releases.jsonl", releases.substr(0, releases.find('\n') + 1));
  expect_refused("is shorter than the state says");
  std::string changed = releases;
  changed[changed.find("\"step\"") + 8] ^= 1;
  write("releases.jsonl", changed);
  expect_refused("was changed");
  write("releases.jsonl", releases + "x\n");
  expect_refused("its last line is no release");
  std::filesystem::remove(state / "releases.jsonl");
  expect_refused("is shorter than the state says");
}

// Somebody names a file of the folder in the folder's place. A file of JSON lines is no data to fit then.
TEST_F(Inspect, OfAFileInTheFolderNamesTheFolder) {
  const auto told = [&](const std::filesystem::path& file) {
    const CommandResult result = run_command(NUSTREAM_COMMAND, {"inspect", file.string()});
    EXPECT_EQ(result.code, 78) << result.out;
    return result.err;
  };
  const std::pair<const char*, const char*> files[] = {{"state", "the sealed state of a run"},
                                                       {"ledger", "the ledger of a run"},
                                                       {"releases.jsonl", "a file of releases"},
                                                       {"lock", "the lock of a run"},
                                                       {"key", "the key of a run"},
                                                       {"users-0.log", "a run's store of users"},
                                                       {"rejects.jsonl", "a run's list of unusable records"}};
  write("rejects.jsonl", "{\"position\":1,\"reason\":\"not a record\"}\n");
  write("users-0.log", std::string("NUUSERS\0\1\0", 10));
  for (const auto& [name, what] : files) {
    EXPECT_EQ(told(state / name), "nustream: error: " + (state / name).string() + ": this is " + what +
                                      ", and no configuration (TOML): nustream inspect " + state.string() +
                                      " shows what is in its folder\n");
  }
  const std::filesystem::path key = std::filesystem::read_symlink(state / "key");
  EXPECT_THAT(told(key),
              HasSubstr(": this is a key, and no configuration (TOML): nustream inspect STATE_FOLDER takes "
                        "it with --key-file " +
                        key.string() + "\n"));
  for (const auto& each : std::filesystem::directory_iterator(key.parent_path())) {
    if (each.path().extension() != ".witness") continue;
    EXPECT_THAT(told(each.path()),
                HasSubstr(": this is a witness, which knows what the run of a state folder has spent, and no "
                          "configuration (TOML): nustream inspect STATE_FOLDER asks it, with --witness " +
                          key.parent_path().string() + " where it is not beside the key\n"));
    return;
  }
  FAIL() << "there is no witness";
}

// The fault was found by a part that knows no folder; the line names the folder all the same.
TEST_F(Inspect, NamesTheFolderOfWhatIsNoState) {
  write("state", "something else");
  expect_refused("is not a nustream state");
  const CommandResult resumed = world.run({"--resume"});
  EXPECT_EQ(resumed.code, 65);
  EXPECT_THAT(resumed.err, HasSubstr(state.string() + ": the state is not a nustream state"));
  const CommandResult begun = world.run({});
  EXPECT_EQ(begun.code, 65);
  EXPECT_THAT(begun.err, HasSubstr(state.string() + ": the state is not a nustream state"));
}

}  // namespace
}  // namespace nustream::tests
