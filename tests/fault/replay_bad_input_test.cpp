// Bad input to the real command: each case has its message and exit code, and never spoils more than one record.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "command.h"
#include "replay_outcome.h"
#include "replay_world.h"

namespace nustream::tests {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(BadInput, AMissingFileIs74AndLeavesNoState) {
  const ReplayWorld world;
  expect_failure(world.run({"--set", "stream.input=none.csv"}), 74, "none.csv");
  EXPECT_FALSE(std::filesystem::exists(world.path("state")));
}

TEST(BadInput, AFolderInPlaceOfAFileIs74) {
  const ReplayWorld world;
  expect_failure(world.run({world.path(".")}), 74, "directory");
}

TEST(BadInput, AnUnreadableStateFolderIs74) {
  const ReplayWorld world;
  world.write("occupied", "a file, not a folder");
  expect_failure(world.run({}, "occupied/state"), 74, "occupied");
}

TEST(BadInput, AFolderThatCannotBeLookedAtIsNoInternalError) {
  const ReplayWorld world;
  std::filesystem::create_symlink("loop", world.path("loop"));
  expect_failure(run_command(NUSTREAM_COMMAND, {"inspect", world.path("loop")}), 74, "symbolic link");
  expect_failure(world.run({}, "loop/state"), 74, "symbolic link");
  const std::string key = world.path("new.key");
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", key}).code, 0);
  expect_failure(run_command(NUSTREAM_COMMAND, {"key", "rotate", world.path("loop"), key}), 74, "symbolic link");
}

TEST(BadInput, AFullStandardOutputIs74) {
  const ReplayWorld world;
  const auto into_full = [&](const std::string& arguments) {
    return run_command("/bin/sh", {"-c", std::string(NUSTREAM_COMMAND) + " " + arguments + " >/dev/full"});
  };
  expect_failure(into_full("plan " + world.config()), 74, "standard output");
  expect_failure(into_full("check --json " + world.config()), 74, "standard output");
}

TEST(BadInput, ANumberThatIsNotPositiveIs64) {
  const ReplayWorld world;
  for (const char* number : {"0", "-1", "nan", "many"}) {
    const CommandResult result = world.run({"--passes", number});
    expect_failure(result, 64, "--passes");
    EXPECT_THAT(result.err, HasSubstr("allowed is a number above 0")) << number;
  }
}

TEST(BadInput, ListenersThatAttachWouldRefuseAre78OfCheckToo) {
  const ReplayWorld world;
  const auto checked = [&](const std::string& setting) {
    return run_command(NUSTREAM_COMMAND,
                       {"check", world.config(), "--set", setting, "--set", "serve.operator_token_file=none"});
  };
  expect_failure(checked("serve.operator_address=0.0.0.0:9485"), 78, "serve.operator_token_file");
  expect_failure(checked("serve.public_address=somewhere:1"), 78, "serve.public_address");
  EXPECT_EQ(checked("serve.public_address=127.0.0.1:1").code, 0);
}

TEST(BadInput, AnEmptyFileIs65) {
  const ReplayWorld world;
  world.write("rows.csv", "");
  expect_failure(world.run({}), 65, "rows.csv");
}

TEST(BadInput, AFileWithoutAHeaderIs65) {
  const ReplayWorld world;
  world.write("rows.csv", "1.5,2.5\n1.0,2.0\n");
  expect_failure(world.run({}), 65, "header");
}

TEST(BadInput, AHeaderAloneIs65) {
  const ReplayWorld world;
  world.write("rows.csv", "x,y\n");
  expect_failure(world.run({}), 65, "a header and no records; no step was taken");
}

// Steps that were taken are paid for, whatever ends the run behind them.
TEST(BadInput, BehindStepsItIsToldWhatTheyCostAndHowToGoOn) {
  const ReplayWorld world(200);
  const std::string good = world.path("rows.csv");
  const std::string nothing = world.write("nothing", "");
  const std::vector<std::string> arguments{"replay", world.config(), good,
                                           "-",      "--set",        "state.directory=" + world.path("state")};
  const CommandResult broken = run_command(NUSTREAM_COMMAND, arguments, nothing);
  EXPECT_EQ(broken.code, 65);
  EXPECT_THAT(broken.err, AllOf(HasSubstr("; 200 steps are taken and paid for: rho "),
                                HasSubstr("go on with: nustream replay "), EndsWith(" --resume\n")));
  std::vector<std::string> again = arguments;
  again.emplace_back("--resume");
  EXPECT_EQ(run_command(NUSTREAM_COMMAND, again, world.write("more.csv", "x,y\n1,2\n")).code, 0);
}

TEST(BadInput, AnInputOfFewerRecordsThanAStepTakesIsTold) {
  const ReplayWorld world(20);
  const CommandResult none = world.run({"--set", "descent.minibatch=21"});
  EXPECT_EQ(none.code, 0);
  EXPECT_THAT(none.err, HasSubstr("too few records were left for a step, which takes 21 (descent.minibatch): no step "
                                  "was taken, nothing is spent"));
}

TEST(BadInput, ARangeWithoutRecordsIsToldAndNoFileThatIsNotThere) {
  const ReplayWorld world(200);
  const CommandResult table = world.run({"--from", "300"});
  EXPECT_EQ(table.code, 0);
  EXPECT_THAT(table.err, HasSubstr("no record of the input lies from 300 to its end: no step was taken"));
  EXPECT_THAT(table.out, Not(AnyOf(HasSubstr("releases.jsonl"), HasSubstr("\nstate "), HasSubstr("\nledger "))));
  const CommandResult json = world.run({"--to", "0", "--json"}, "other");
  EXPECT_THAT(json.out, HasSubstr("\"releases\":null,\"state\":null,\"ledger\":null"));
}

TEST(BadInput, ANewEpochThatEndsBeforeItBeginsIsToldWhatWasRead) {
  const ReplayWorld world(200);
  ASSERT_EQ(world.run({}).code, 0);
  const CommandResult table = world.run({"--new-epoch", "--to", "150"});
  EXPECT_EQ(table.code, 0);
  EXPECT_THAT(table.err, HasSubstr("no new records behind record 200 before 150: no step was taken"));
  EXPECT_THAT(table.err, HasSubstr("--new-epoch --from 0"));
}

TEST(BadInput, AFolderToResumeThatIsNotThereIs65AndNotMade) {
  const ReplayWorld world(200);
  expect_failure(world.run({"--resume"}, "mistyped"), 65, "holds no state to resume");
  EXPECT_FALSE(std::filesystem::exists(world.path("mistyped")));
}

TEST(Budget, ThatEndsARunBeforeItsNoiseIsToldFirst) {
  const ReplayWorld world(200);
  const std::string budget = "privacy.budget=0.4";  // privacy.rho is 0.5
  const CommandResult told = run_command(NUSTREAM_COMMAND, {"check", world.config(), "--set", budget});
  const CommandResult run = world.run(with_counts(world, {"--set", budget}));
  const std::string says =
      "privacy.budget ends this epoch after " + std::to_string(counts_of(world, run, 73).steps) + " steps, ";
  EXPECT_THAT(told.out, HasSubstr(says));
  for (const char* command : {"check", "plan"}) {
    const CommandResult json = run_command(NUSTREAM_COMMAND, {command, world.config(), "--json", "--set", budget});
    EXPECT_THAT(json.out, HasSubstr("\"warnings\":[\"" + says)) << command;
  }
  EXPECT_THAT(run.err, HasSubstr("warning: " + says));
  // The ledger leaves less for a second epoch.
  const CommandResult next = world.run({"--new-epoch", "--from", "0", "--set", "privacy.budget=0.8"});
  EXPECT_THAT(next.err, HasSubstr("warning: privacy.budget ends this epoch after "));
  for (const char* enough : {"privacy.budget=0.5", "privacy.budget=2.0"}) {
    const CommandResult whole = run_command(NUSTREAM_COMMAND, {"check", world.config(), "--set", enough});
    EXPECT_THAT(whole.out, Not(HasSubstr("privacy.budget ends")));
    const CommandResult json = run_command(NUSTREAM_COMMAND, {"check", world.config(), "--json", "--set", enough});
    EXPECT_THAT(json.out, HasSubstr("\"warnings\":[]"));
  }
}

TEST(Budget, ThatEndsARunBeforeItsFirstReleaseSaysThatNothingIsReleased) {
  const ReplayWorld world(200);
  const auto with_release_every = [&](const std::string& steps) {
    return world.run({"--set", "privacy.budget=0.4", "--set", "release.every=" + steps}, "every" + steps);
  };
  EXPECT_THAT(with_release_every("100000").err,
              EndsWith("; no release of this epoch was made: the first one comes after "
                       "release.every = 100000 steps\n"));
  EXPECT_THAT(with_release_every("1").err, EndsWith("; what was released stays\n"));
  // It is told at the beginning too, whatever the options say: what is spent so may buy nothing.
  for (const char* how : {"--quiet", "--json"}) {
    const CommandResult told = world.run({how, "--set", "privacy.budget=0.4", "--set", "release.every=100000"}, how);
    EXPECT_THAT(told.err, HasSubstr("; it ends before the first release (release.every)")) << how;
  }
  const CommandResult none = world.run({"--set", "privacy.budget=1e-9"}, "none");
  EXPECT_EQ(none.code, 73);
  EXPECT_THAT(none.err, HasSubstr("privacy.budget leaves no room for a single step"));
  EXPECT_THAT(none.err, EndsWith("; no step was taken\n"));
}

TEST(BadInput, SettingsThatAnOptionOrATableNeedsAreNamed) {
  const ReplayWorld world;
  expect_failure(world.run({"--from", "2024-01-01T00:00:00Z"}), 78,
                 "; --from by time needs stream.time and stream.times_public = true");
  const std::string stream = read_file(world.config());
  const std::string table = stream.substr(0, stream.find("[noise]")) + "[estimate]\nsteps = 10\n";
  const CommandResult result = run_command(
      NUSTREAM_COMMAND, {"replay", world.write("table.toml", table), "--quiet", "--set", "state.directory=x"});
  expect_failure(result, 78, "nustream estimate takes it");
}

TEST(BadInput, AColumnThatIsNotThereIs78AndShowsNoRecord) {
  const ReplayWorld world;
  world.write("rows.csv", "xx,y\n1,2\n");  // "y" alone does not prove a header: it may be somebody's answer
  expect_failure(world.run({}), 78, "which has 2 columns");
  world.write("rows.csv", "alice,z,1\n");  // this line is no header but a record
  const CommandResult none = world.run({});
  expect_failure(none, 78, "which has 3 columns");
  EXPECT_THAT(none.err, Not(HasSubstr("'z'")));
  world.write("rows.csv", "alpha;beta\n1;2\n");
  expect_failure(world.run({}), 78,
                 "whose lines have 1 column and hold ';': set stream.delimiter = \";\"; name columns that are there");
}

struct BadSetting {
  std::string override_text;
  std::string mentions;
  friend void PrintTo(const BadSetting& setting, std::ostream* out) { *out << setting.override_text; }
};
class BadSettings : public ::testing::TestWithParam<BadSetting> {};

TEST_P(BadSettings, Are78) {
  const ReplayWorld world(10);
  expect_failure(world.run({"--set", GetParam().override_text}), 78, GetParam().mentions);
  EXPECT_FALSE(std::filesystem::exists(world.path("state")));
}
INSTANTIATE_TEST_SUITE_P(
    All, BadSettings,
    ::testing::Values(BadSetting{"privacy.rho=0", "privacy.rho"}, BadSetting{"privacy.rho=-1", "privacy.rho"},
                      BadSetting{"privacy.delta=0", "privacy.delta"}, BadSetting{"noise.nu=1", "noise.nu"},
                      BadSetting{"descent.clip_norm=0", "descent.clip_norm"},
                      BadSetting{"model.loss=lineer", "linear"}, BadSetting{"descent.step=1", "step_size"},
                      BadSetting{"privacy.unit=user", "privacy.user is missing"},
                      BadSetting{"noise.correlation=nu", "rational"},
                      BadSetting{"noise.correlation=anti-pgd", "horizon"}));

TEST(BadInput, ATextThatIsNotTomlIs78) {
  const ReplayWorld world;
  const std::string config = world.write("broken.toml", "this is not toml\n");
  expect_failure(run_command(NUSTREAM_COMMAND, {"check", config}), 78, "broken.toml:1:");
}

TEST(BadInput, AnUnknownOptionIs64) {
  const CommandResult result = run_command(NUSTREAM_COMMAND, {"replay", "x.toml", "--nonsense"});
  EXPECT_EQ(result.code, 64) << result.err;
}

TEST(BadInput, AnUnknownCommandIs64AndNamesTheNearest) {
  expect_failure(run_command(NUSTREAM_COMMAND, {"replya", "x.toml"}), 64, "'replya' (did you mean 'replay'?)");
}

class BadKey : public ::testing::Test {
 protected:
  CommandResult run_with(const std::string& bytes, mode_t mode) const {
    const std::string key = world_.write("bad.key", bytes);
    ::chmod(key.c_str(), mode);
    return world_.run({"--set", "state.key_file=\"" + key + "\""});
  }
  ReplayWorld world_;
};
TEST_F(BadKey, Of31BytesIs77) {
  expect_failure(run_with(std::string(31, 'k'), 0600), 77, "bad.key");
}
TEST_F(BadKey, OfZerosIs77) {
  expect_failure(run_with(std::string(32, '\0'), 0600), 77, "bad.key");
}
TEST_F(BadKey, ReadableByOthersIs77) {
  expect_failure(run_with(std::string(32, 'k'), 0644), 77, "bad.key");
}
TEST_F(BadKey, ThatIsMissingIs77) {
  expect_failure(world_.run({"--set", "state.key_file=\"" + world_.path("none.key") + "\""}), 77, "none.key");
}

TEST(BadInput, AFullDiskIs74AndResumesOnceThereIsRoom) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting a small tmpfs needs root";
  const ReplayWorld world(20000);
  const std::string mount = world.path("small");
  std::filesystem::create_directory(mount);
  if (std::system(("mount -t tmpfs -o size=256k tmpfs " + mount + " 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "this sandbox cannot mount";
  }
  const std::vector<std::string> settings{
      "--set", "release.every=10", "--set", "state.commit_records=500", "--insecure-seed", "5"};
  const CommandResult full = world.run(settings, "small/state");
  std::vector<std::string> resume = settings;
  resume.push_back("--resume");
  static_cast<void>(std::system(("mount -o remount,size=64m " + mount).c_str()));
  const CommandResult resumed = world.run(resume, "small/state");
  const std::string released = world.releases("small/state");
  static_cast<void>(std::system(("umount " + mount).c_str()));
  expect_failure({full.code, "", full.err}, 74, "small/state");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  ASSERT_EQ(world.run(settings, "roomy").code, 0);
  EXPECT_TRUE(released == world.releases("roomy")) << "releases differ from those of an undisturbed run";
}

TEST(BadInput, AFolderInUseIs75) {
  const ReplayWorld world(10);
  ASSERT_EQ(::mkfifo(world.path("pipe").c_str(), 0600), 0);
  Command first(NUSTREAM_COMMAND, world.replay({world.path("pipe")}));
  const int writer = ::open(world.path("pipe").c_str(), O_WRONLY);
  const std::string header = "x,y\n1,2\n";
  ASSERT_EQ(::write(writer, header.data(), header.size()), static_cast<ssize_t>(header.size()));
  while (!std::filesystem::exists(world.path("state/key"))) ::usleep(1000);
  expect_failure(world.run({}), 75, "state");
  expect_failure(world.run({"--resume"}), 75, "state");  // the first run has not committed yet
  ::close(writer);
  EXPECT_EQ(first.wait().code, 0);
}

TEST(CommandLine, NamesTheCommandsOwnHelpAndWhatIsNearest) {
  const auto refused = [](const std::vector<std::string>& arguments, const char* text) {
    const CommandResult result = run_command(NUSTREAM_COMMAND, arguments);
    EXPECT_EQ(result.code, 64);
    EXPECT_THAT(result.err, HasSubstr(text));
  };
  refused({"replay", "a.toml", "--resum"}, "did you mean '--resume'?");
  refused({"replay", "a.toml", "--resum"}, "see nustream replay --help");
  refused({"local"}, "randomize or collect; see nustream local --help");
  refused({}, "see nustream --help");
}

}  // namespace
}  // namespace nustream::tests
