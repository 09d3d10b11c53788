// A witness while its folder's key is rotated. It goes over to the new key, what a copy from before finds shows that
// the folder went on, and no rotation makes a copy the newest folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "command.h"
#include "estimate_world.h"
#include "witnessed_world.h"

namespace nustream::tests {
namespace {

class Rotated : public Witnessed {
 protected:
  /// A key beside the others, or in the folder `place`.
  [[nodiscard]] std::string new_key(const std::string& place = "keys") const {
    fs::create_directories(world.path(place));
    fs::permissions(world.path(place), fs::perms::owner_all);
    const std::string file = world.path(place + "/second.key");
    EXPECT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", file}).code, 0);
    return file;
  }
  [[nodiscard]] CommandResult rotate(const std::string& key) const {
    return run_command(NUSTREAM_COMMAND, {"key", "rotate", world.path("state"), key});
  }
  /// Replaces the folder's content by `copy`, which is under the key that `key` leads to.
  void restore(const std::string& copy) const { copy_folder(world.path(copy), world.path("state")); }
};

TEST_F(Rotated, CopyFromBeforeARotationIsRefused) {
  begin_copy_and_go_on();
  const std::string key = world.path("keys/new.key");
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", key}).code, 0);
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "rotate", world.path("state"), key}).code, 0);
  const std::string bytes = read_file(witness());
  copy_folder(world.path("state"), world.path("newest"));
  copy_folder(world.path("copy"), world.path("state"));
  expect_refused(run({"--resume"}), 65, "from before a rotation");
  EXPECT_EQ(read_file(witness()), bytes) << "the newest folder's witness stays";
  copy_folder(world.path("newest"), world.path("state"));
  EXPECT_EQ(run({"--resume"}).code, 0);
}

TEST_F(Rotated, RotationHandsTheWitnessOver) {
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  copy_folder(world.path("state"), world.path("copy"));
  const std::string second = world.path("keys/second.key");
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", second}).code, 0);
  const std::vector<std::string> rotate{"key", "rotate", world.path("state"), second};
  for (int time = 0; time < 2; ++time) {  // the second time as after a crash on the way
    const CommandResult rotated = run_command(NUSTREAM_COMMAND, rotate);
    ASSERT_EQ(rotated.code, 0) << rotated.err;
    EXPECT_EQ(fs::read_symlink(world.path("state/key")), second);
    // There is no other key the second time: who destroyed "the old one" then would close the folder for ever.
    EXPECT_EQ(rotated.out.find("can be destroyed") != std::string::npos, time == 0) << rotated.out;
    EXPECT_EQ(rotated.out.find("keep that key") != std::string::npos, time == 1) << rotated.out;
  }
  const CommandResult resumed = run({"--resume", "--to", "1000"});
  EXPECT_EQ(resumed.code, 0);
  expect_no_warning(resumed);
  static_cast<void>(witness());
  copy_folder(world.path("copy"), world.path("state"));
  fs::remove(world.path("state/key"));
  fs::create_symlink(second, world.path("state/key"));
  EXPECT_EQ(run({"--resume"}).code, 77) << "the old state, under the old key";
}

// A rotation to a copy of the key, in another folder, takes the witness there, so that an older copy of the state is
// noticed also where the first key's folder is gone.
TEST_F(Rotated, RotationToACopyOfTheKeyTakesTheWitnessAlong) {
  begin_copy_and_go_on();
  fs::create_directory(world.path("there"));
  fs::permissions(world.path("there"), fs::perms::owner_all);
  const std::string copy = world.path("there/key");
  fs::copy_file(fs::canonical(world.path("state/key")), copy);
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "rotate", world.path("state"), copy}).code, 0);
  EXPECT_EQ(files_in(world.path("there"), ".witness").size(), 1U);
  fs::remove_all(world.path("keys"));
  copy_folder(world.path("copy"), world.path("state"));
  expect_refused(run({"--resume", "--set", "state.key_file=\"" + copy + "\""}), 65, "older state");
}

// A rotation under settings that name another place leaves the witness beside the folder's own key under the earlier
// key. The next run takes it along.
TEST_F(Rotated, WitnessBesideTheOwnKeyGoesOnUnderTheNewKey) {
  const std::string place = "state.witness=\"" + world.path("witnesses") + "\"";
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  ASSERT_EQ(run({"--resume", "--to", "700", "--set", place}).code, 0);
  const std::string key = new_key();
  const CommandResult rotated = run_command(
      NUSTREAM_COMMAND, {"key", "rotate", world.path("state"), key, "--witness", world.path("witnesses")});
  ASSERT_EQ(rotated.code, 0) << rotated.err;
  copy_folder(world.path("state"), world.path("copy"));
  ASSERT_EQ(run({"--resume", "--to", "1000", "--set", place}).code, 0);
  restore("copy");
  expect_refused(run({"--resume"}), 65, "older state");
}

// A rotation that does not know of the witness's place has nothing to compare the folder with, and says so.
TEST_F(Rotated, WithoutAWitnessBesideTheKeyIsToldToNameItsPlace) {
  const std::string place = "state.witness=\"" + world.path("witnesses") + "\"";
  ASSERT_EQ(run({"--to", "500", "--set", place}).code, 0);
  const CommandResult rotated = rotate(new_key());
  ASSERT_EQ(rotated.code, 0) << rotated.err;
  EXPECT_NE(rotated.err.find("give the command again with --witness"), std::string::npos) << rotated.err;
  const CommandResult resumed = run({"--resume", "--set", place});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
}

// A copy from before a rotation leads to its old key, beside which the rotation left a witness. Settings that name
// another place do not hide it.
TEST_F(Rotated, CopyIsRefusedAlsoWhereTheSettingsNameAnotherPlace) {
  begin_copy_and_go_on();
  ASSERT_EQ(rotate(new_key()).code, 0);
  restore("copy");
  const std::string place = "state.witness=\"" + world.path("witnesses") + "\"";
  expect_refused(run({"--resume", "--set", place}), 65, "from before a rotation");
}

// Other folders may be under the old key. Whoever destroyed it then would close them for ever.
TEST_F(Rotated, KeyOfAnotherFolderIsToBeKept) {
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  const std::string key = fs::read_symlink(world.path("state/key"));
  const std::string other = world.path("other");
  ASSERT_EQ(
      run({"--to", "500", "--set", "state.directory=\"" + other + "\"", "--set", "state.key_file=\"" + key + "\""})
          .code,
      0);
  const CommandResult rotated = rotate(new_key());
  ASSERT_EQ(rotated.code, 0) << rotated.err;
  EXPECT_NE(rotated.out.find("keep " + key + ", which is still the key of " + other), std::string::npos)
      << rotated.out;
}

// This is the way on from a copy that only the old key opens. What the copy lacks is charged, and nothing makes it
// the newest folder.
TEST_F(Rotated, CopyThatIsRotatedAgainIsStillAnOlderOne) {
  begin_copy_and_go_on();
  const std::string key = new_key();
  ASSERT_EQ(rotate(key).code, 0);
  ASSERT_EQ(run({"--resume", "--to", "1500"}).code, 0);
  const double spent = total_rho();
  const std::string newest = read_file(witness());
  restore("copy");
  const CommandResult again = rotate(key);
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.err.find("no witness"), std::string::npos) << again.err;
  EXPECT_NE(again.err.find("is an older copy"), std::string::npos) << again.err;
  EXPECT_EQ(read_file(witness()), newest) << "the newest folder's witness stays";
  expect_refused(run({"--resume"}), 65, "older state");
  const CommandResult looked = run_command(NUSTREAM_COMMAND, {"inspect", world.path("state")});
  EXPECT_NE(looked.err.find("older state"), std::string::npos) << looked.err;
  ASSERT_EQ(run({"--new-epoch"}).code, 0);
  EXPECT_GT(total_rho(), spent + 0.4) << "the lost epoch's limit, and the new one";
}

// Where the keys lie in two folders, each folder holds a witness of the rotation.
TEST_F(Rotated, CopyFindsTheOldPlaceTold) {
  begin_copy_and_go_on();
  copy_folder(world.path("state"), world.path("just-before"));
  ASSERT_EQ(rotate(new_key("other")).code, 0);
  EXPECT_EQ(files_in(world.path("other"), ".witness").size(), 1U);
  const CommandResult resumed = run({"--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  expect_no_warning(resumed);
  for (const char* copy : {"copy", "just-before"}) {
    restore(copy);
    expect_refused(run({"--resume"}), 65, "from before a rotation");
  }
}

// A crash came between the state and its witness. The same command again tells the witness.
TEST_F(Rotated, CrashOnTheWayIsMadeGood) {
  begin_copy_and_go_on();
  copy_folder(world.path("state"), world.path("just-before"));
  const std::string key = new_key("other");
  const fs::path old_key = fs::read_symlink(world.path("state/key"));
  copy_folder(world.path("keys"), world.path("keys-before"));
  ASSERT_EQ(rotate(key).code, 0);
  for (const fs::path& file : files_in(world.path("other"), ".witness")) fs::remove(file);
  copy_folder(world.path("keys-before"), world.path("keys"));
  fs::remove(world.path("state/key"));
  fs::create_symlink(old_key, world.path("state/key"));
  ASSERT_EQ(rotate(key).code, 0);
  EXPECT_EQ(files_in(world.path("other"), ".witness").size(), 1U);
  restore("just-before");
  expect_refused(run({"--resume"}), 65, "from before a rotation");
}

TEST_F(Rotated, PlaceThatCannotBeWrittenIsToldAndTheOldWitnessStays) {
  begin_copy_and_go_on();
  const std::string key = new_key("other");
  fs::permissions(world.path("other"), fs::perms::group_write, fs::perm_options::add);
  const CommandResult rotated = rotate(key);
  EXPECT_EQ(rotated.code, 0) << rotated.err;
  EXPECT_NE(rotated.err.find("the witness cannot be kept"), std::string::npos) << rotated.err;
  EXPECT_EQ(files_in(world.path("keys"), ".witness").size(), 1U);
  restore("copy");
  expect_refused(run({"--resume"}), 65, "from before a rotation");
}

// A rotation that was cut short is finished by the same command, and so the state may be under the new key already.
// An older copy may be so, too, and is not taken for such a rotation.
TEST_F(Rotated, RotationToTheKeyThatItHasMakesNoCopyTheNewest) {
  begin_copy_and_go_on();
  const fs::path first = fs::read_symlink(world.path("state/key"));
  const std::string second = new_key();
  ASSERT_EQ(rotate(second).code, 0);
  copy_folder(world.path("state"), world.path("copy-of-second"));
  const std::string third = world.path("keys/third.key");
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", third}).code, 0);
  ASSERT_EQ(rotate(third).code, 0);
  ASSERT_EQ(run({"--resume", "--to", "1500"}).code, 0);
  const std::string newest = read_file(witness());
  for (const auto& [copy, key] : {std::pair("copy", first.string()), std::pair("copy-of-second", second)}) {
    restore(copy);
    expect_refused(rotate(key), 65, "from before a rotation");
    EXPECT_EQ(read_file(witness()), newest) << "the newest folder's witness stays";
    expect_refused(run({"--resume"}), 65, "from before a rotation");
  }
}

TEST_F(Rotated, RotationToACopyOfTheKeyMakesNoCopyTheNewest) {
  begin_copy_and_go_on();
  const std::string newest = read_file(witness());
  restore("copy");
  fs::create_directory(world.path("there"));
  fs::permissions(world.path("there"), fs::perms::owner_all);
  fs::copy_file(fs::canonical(world.path("state/key")), world.path("there/key"));
  expect_refused(rotate(world.path("there/key")), 65, "restore the newest state before its key is rotated");
  EXPECT_EQ(read_file(witness()), newest) << "the newest folder's witness stays";
  EXPECT_TRUE(files_in(world.path("there"), ".witness").empty());
  expect_refused(run({"--resume"}), 65, "older state");
  // The way on that the refusal names.
  const double spent = total_rho();
  ASSERT_EQ(run({"--new-epoch", "--to", "1500"}).code, 0);
  EXPECT_GT(total_rho(), spent + 0.4) << "the lost epoch's limit, and the new one";
  EXPECT_EQ(rotate(world.path("there/key")).code, 0);
}

// Where the newest folder's key has a copy in a third place, nothing there would show that the folder is older.
TEST_F(Rotated, CopyIsNotLedAwayFromTheWitness) {
  begin_copy_and_go_on();
  const std::string key = new_key("other");
  ASSERT_EQ(rotate(key).code, 0);
  restore("copy");
  fs::create_directory(world.path("third"));
  fs::permissions(world.path("third"), fs::perms::owner_all);
  fs::copy_file(key, world.path("third/key"));
  expect_refused(rotate(world.path("third/key")), 65, "restore the newest state before its key is rotated");
  expect_refused(run({"--resume"}), 65, "from before a rotation");
  // Beside the key itself the witness goes on telling that the folder is an older copy.
  const CommandResult again = rotate(key);
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("is an older copy"), std::string::npos) << again.err;
  for (int time = 0; time < 2; ++time) {  // the second time as after a crash on the way
    EXPECT_EQ(rotate(key).code, 0);
    expect_refused(run({"--resume"}), 65, "older state");
  }
}

// The warning asks for the same command with --witness. For the newest folder that finishes the rotation; an older
// copy is refused, since that place knows more.
TEST_F(Rotated, NamingTheWitnessesPlaceAfterwardsMakesNoCopyTheNewest) {
  const std::string first = new_key("first");
  const std::string second = new_key("second");
  const auto settings = [&](std::vector<std::string> more, const std::string& key) {
    more.insert(more.end(), {"--set", "state.key_file=\"" + key + "\"", "--set",
                             "state.witness=\"" + world.path("witnesses") + "\""});
    return more;
  };
  ASSERT_EQ(run(settings({"--to", "500"}, first)).code, 0);
  copy_folder(world.path("state"), world.path("copy"));
  ASSERT_EQ(run(settings({"--resume", "--to", "1000"}, first)).code, 0);
  copy_folder(world.path("state"), world.path("newest"));
  std::vector<std::string> rotate{"key", "rotate", world.path("state"), second, "--key-file", first};
  for (const bool is_newest : {false, true}) {
    copy_folder(world.path(is_newest ? "newest" : "copy"), world.path("state"));
    const CommandResult blind = run_command(NUSTREAM_COMMAND, rotate);
    ASSERT_EQ(blind.code, 0) << blind.err;
    EXPECT_NE(blind.err.find("give the command again with --witness"), std::string::npos) << blind.err;
    std::vector<std::string> told = rotate;
    told.insert(told.end(), {"--witness", world.path("witnesses")});
    const CommandResult again = run_command(NUSTREAM_COMMAND, told);
    EXPECT_EQ(again.code, is_newest ? 0 : 65) << again.err;
    EXPECT_EQ(run(settings({"--resume", "--to", "1500"}, second)).code, is_newest ? 0 : 65);
    for (const char* place : {"first", "second"}) {
      for (const fs::path& file : files_in(world.path(place), ".witness")) fs::remove(file);
    }
  }
}

// A run warns of such a key, and so does the rotation that makes it the folder's.
TEST_F(Rotated, KeyInsideTheStateFolderIsWarnedOf) {
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  const std::string inside = world.path("state/inside.key");
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", inside}).code, 0);
  const CommandResult rotated = rotate(inside);
  EXPECT_EQ(rotated.code, 0) << rotated.err;
  EXPECT_NE(rotated.err.find("lies inside the state folder"), std::string::npos) << rotated.err;
  const CommandResult outside = rotate(new_key());
  EXPECT_EQ(outside.err.find("lies inside the state folder"), std::string::npos) << outside.err;
}

TEST_F(Witnessed, KeyMayBeNamedThroughTheFoldersLink) {
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  const std::string link = world.path("state/key");
  const CommandResult named = run({"--resume", "--to", "1000", "--set", "state.key_file=\"" + link + "\""});
  EXPECT_EQ(named.code, 0) << named.err;
  expect_no_warning(named);
  EXPECT_EQ(run_command(NUSTREAM_COMMAND, {"inspect", world.path("state"), "--key-file", link}).code, 0);
}

// The witness cannot be told of the new epoch. The ledger charges what the witness tells, and the epoch goes on.
TEST_F(Witnessed, EpochBegunBehindItGoesOnWithoutIt) {
  begin_copy_and_go_on();
  copy_folder(world.path("copy"), world.path("state"));
  const fs::path file = witness();
  const std::string lost = read_file(file);
  ASSERT_EQ(run({"--new-epoch", "--to", "1500"}).code, 0);
  const double charged = total_rho();
  fs::remove(file);
  world.write("keys/" + file.filename().string(), lost);
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  const CommandResult resumed = run({"--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_LT(total_rho(), charged + 0.1) << "nothing is charged twice";
}

TEST(WitnessedEstimate, TellsWhatWeakensThePromiseEvenQuietly) {
  const EstimateWorld world;
  const std::string keys = world.path("keys");
  ASSERT_EQ(world.run({"--set", "state.key_directory=" + keys}).code, 0);
  for (const fs::path& file : files_in(keys, ".witness")) fs::remove(file);
  const CommandResult again = world.run({"--set", "state.key_directory=" + keys, "--new-epoch", "--quiet"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("no witness of this state folder"), std::string::npos) << again.err;
}

}  // namespace
}  // namespace nustream::tests
