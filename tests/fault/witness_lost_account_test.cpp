// A folder whose files were deleted is no fresh budget, whatever key, stream or place the settings name now. Each
// refusal says what to do, and that works.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "command.h"
#include "estimate_world.h"
#include "witnessed_world.h"

namespace nustream::tests {
namespace {

class LostFolderAndItsWitness : public Witnessed {
 protected:
  /// What is deleted: the files of a run, so that the link to its key is left, or the folder.
  enum class Deleted { files, folder };

  void run_and_delete(Deleted what) const {
    fs::remove_all(world.path("keys"));
    fs::remove_all(world.path("state"));
    ASSERT_EQ(run({"--to", "500"}).code, 0);
    for (const char* name : {"state", "ledger", "releases.jsonl"})
      fs::remove(world.path(std::string("state/") + name));
    if (what == Deleted::folder) fs::remove_all(world.path("state"));
  }
  /// Neither a first run with these settings nor a new epoch begins, and nothing is left of them. A new epoch under
  /// the old settings goes on, and is charged on top of what was spent.
  void expect_only_the_old_settings_go_on(const std::vector<std::string>& settings, const std::string& part) const {
    for (const bool is_new_epoch : {false, true}) {
      std::vector<std::string> more = settings;
      if (is_new_epoch) more.push_back("--new-epoch");
      const CommandResult refused = run(more);
      expect_refused(refused, 65, part);
      EXPECT_NE(refused.err.find(witness().string()), std::string::npos) << refused.err;
      EXPECT_FALSE(fs::exists(world.path("state/state")));
      EXPECT_FALSE(fs::exists(world.path("state/releases.jsonl")));
    }
    EXPECT_EQ(files_in(world.path("keys"), ".key").size(), 1U);
    const CommandResult anew = run({"--new-epoch", "--to", "1500"});
    ASSERT_EQ(anew.code, 0) << anew.err;
    EXPECT_NEAR(total_rho(), 1.0, 0.01) << "the limits of two epochs";
  }
  /// A folder of the user's own.
  [[nodiscard]] std::string own_folder(const std::string& name) const {
    fs::create_directories(world.path(name));
    fs::permissions(world.path(name), fs::perms::owner_all);
    return world.path(name);
  }
  [[nodiscard]] std::string new_key(const std::string& name) const {
    std::string file = own_folder(name) + "/key";
    fs::remove(file);
    EXPECT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", file}).code, 0);
    return file;
  }
};

TEST_F(LostFolderAndItsWitness, IsNoFreshBudgetUnderAnotherKey) {
  for (const Deleted what : {Deleted::files, Deleted::folder}) {
    run_and_delete(what);
    const std::string key = "state.key_file=\"" + new_key("elsewhere") + "\"";
    expect_only_the_old_settings_go_on({"--set", key}, "under a key that is not this one");
  }
}

TEST_F(LostFolderAndItsWitness, IsNoFreshBudgetOfAnotherStreamOrLane) {
  const std::string part = "for a stream or lane that is not this one";
  for (const Deleted what : {Deleted::files, Deleted::folder}) {
    run_and_delete(what);
    expect_only_the_old_settings_go_on({"--set", "stream.name=other"}, part);
    run_and_delete(what);
    expect_only_the_old_settings_go_on({"--lane", "1"}, part);
    run_and_delete(what);
    const std::string key = "state.key_file=\"" + new_key("elsewhere") + "\"";
    expect_only_the_old_settings_go_on({"--set", "stream.name=other", "--set", key}, part);
  }
}

// The key is the same, so that a new epoch can be charged for what was spent. Both places then tell of it.
TEST_F(LostFolderAndItsWitness, IsNoFreshBudgetWhereAnotherPlaceIsNamed) {
  for (const Deleted what : {Deleted::files, Deleted::folder}) {
    run_and_delete(what);
    fs::remove_all(world.path("witnesses"));
    const std::string place = "state.witness=\"" + world.path("witnesses") + "\"";
    const CommandResult refused = run({"--set", place});
    expect_refused(refused, 65, "as " + witness().string() + " tells");
    EXPECT_NE(refused.err.find("--new-epoch"), std::string::npos) << refused.err;
    ASSERT_EQ(run({"--set", place, "--new-epoch", "--to", "1500"}).code, 0);
    EXPECT_NEAR(total_rho(), 1.0, 0.01) << "the limits of two epochs";
    const auto told = files_in(world.path("witnesses"), ".witness");
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(read_file(told.front()), read_file(witness()));
  }
}

// What the messages offer: other records in a folder of their own, or a witness that is moved away.
TEST_F(LostFolderAndItsWitness, LeavesOtherFoldersAloneAndMayBeGivenUp) {
  const std::string other_key = "state.key_file=\"" + new_key("elsewhere") + "\"";
  const std::vector<std::string> other{"--to", "500", "--set", "stream.name=other"};
  run_and_delete(Deleted::folder);
  EXPECT_EQ(run(other, "folder-of-another-stream").code, 0);
  EXPECT_EQ(run({"--to", "500", "--set", other_key}, "folder-under-another-key").code, 0);
  for (const auto& file : files_in(world.path("keys"), ".witness")) fs::remove(file);
  EXPECT_EQ(run(other).code, 0) << "nobody counts what was spent here any more";
  fs::remove_all(world.path("state"));
  for (const auto& file : files_in(world.path("keys"), ".witness")) fs::remove(file);
  const CommandResult under_other_key = run({"--to", "500", "--set", other_key});
  EXPECT_EQ(under_other_key.code, 0) << under_other_key.err;
}

// No witness is asked under "none", which is said. Behind such a run the old account is not forgotten.
TEST_F(LostFolderAndItsWitness, IsNotReplacedByARunThatAskedNoWitness) {
  run_and_delete(Deleted::files);
  const CommandResult unasked = run({"--to", "500", "--set", "state.witness=none"});
  ASSERT_EQ(unasked.code, 0) << unasked.err;
  EXPECT_NE(unasked.err.find("no witness is kept"), std::string::npos) << unasked.err;
  expect_refused(run({"--resume"}), 65, "but an account of which no witness in");
  fs::remove(witness());
  EXPECT_EQ(run({"--resume"}).code, 0) << "what the message says";
}

TEST_F(LostFolderAndItsWitness, ReplacedByAFolderThatWasMovedIsToldOf) {
  run_and_delete(Deleted::folder);
  const std::string old = witness().string();
  ASSERT_EQ(run({"--to", "500"}, "other").code, 0);
  fs::rename(world.path("other"), world.path("state"));
  const CommandResult moved = run({"--resume"});
  EXPECT_EQ(moved.code, 0) << moved.err;
  EXPECT_NE(moved.err.find("the witness " + old + " tells of another account"), std::string::npos) << moved.err;
}

TEST(WitnessedEstimate, DeletedFolderIsNoFreshBudgetOfAnotherStream) {
  const EstimateWorld world;
  const std::vector<std::string> keys{"--set", "state.key_directory=" + world.path("keys")};
  ASSERT_EQ(world.run(keys).code, 0);
  fs::remove_all(world.path("state"));
  std::vector<std::string> renamed = keys;
  renamed.insert(renamed.end(), {"--set", "stream.name=renamed"});
  const CommandResult refused = world.run(renamed);
  EXPECT_EQ(refused.code, 65) << refused.err;
  EXPECT_NE(refused.err.find("for a stream or lane"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace nustream::tests
