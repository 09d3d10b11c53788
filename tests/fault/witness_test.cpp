// The witness and the key's place through the command: what it refuses, what it warns of, and where things lie.
#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "command.h"
#include "estimate_world.h"
#include "replay_world.h"
#include "users_world.h"
#include "witnessed_world.h"

namespace nustream::tests {
namespace {

TEST_F(Witnessed, KeyLiesOutsideAndIsPrinted) {
  const CommandResult shown = run({"--to", "500"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  const auto keys = files_in(world.path("keys"), ".key");
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(fs::read_symlink(world.path("state/key")), fs::canonical(keys.front()));
  EXPECT_NE(shown.out.find(keys.front().string() + " (keep it secret)"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find(witness().string()), std::string::npos) << shown.out;
  expect_no_warning(shown);
  simdjson::dom::parser parser;
  const CommandResult again = run({"--resume", "--json"});
  EXPECT_EQ(std::string(parser.parse(again.out)["key"].get_string().value()), keys.front().string());
  EXPECT_EQ(std::string(parser.parse(again.out)["witness"].get_string().value()), witness().string());
  const CommandResult inspected = run_command(NUSTREAM_COMMAND, {"inspect", world.path("state"), "--json"});
  EXPECT_EQ(std::string(parser.parse(inspected.out)["key"].get_string().value()), keys.front().string());
  EXPECT_EQ(std::string(parser.parse(inspected.out)["witness"].get_string().value()), witness().string());
}

TEST_F(Witnessed, KeyHasNoPlaceWithoutAHome) {
  const std::vector<std::string> no_home{"HOME", "XDG_CONFIG_HOME="};
  const CommandResult none = run_command(NUSTREAM_COMMAND, world.replay({}), {}, no_home);
  expect_refused(none, 77, "state.key_directory");
  EXPECT_FALSE(fs::exists(world.path("state/state")));
  world.write("home", "a file, which no folder can be made in");
  const std::vector<std::string> bad_home{"HOME=" + world.path("."), "XDG_CONFIG_HOME=" + world.path("home/config")};
  expect_refused(run_command(NUSTREAM_COMMAND, world.replay({}), {}, bad_home), 77, "state.key_directory");
  EXPECT_EQ(run({}).code, 0) << "what the message says";
}

TEST_F(Witnessed, KeyInsideTheFolderGoesOnWithAWarning) {
  fs::create_directory(world.path("state"));
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", world.path("state/key")}).code, 0);
  const CommandResult shown = run({"--to", "500"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.err.find("lies inside the state folder"), std::string::npos) << shown.err;
  EXPECT_EQ(witness().parent_path(), world.path("keys")) << "not inside: it would be restored with the folder";
  copy_folder(world.path("state"), world.path("copy"));
  ASSERT_EQ(run({"--resume", "--to", "1000"}).code, 0);
  copy_folder(world.path("copy"), world.path("state"));
  expect_refused(run({"--resume"}), 65, "--new-epoch");
}

TEST_F(Witnessed, ThatIsThereAndCannotBeBelievedIsRefused) {
  begin_copy_and_go_on();
  copy_folder(world.path("copy"), world.path("state"));
  const std::string releases = world.releases();
  const fs::path file = witness();
  const std::string bytes = read_file(file);

  fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
  expect_refused(run({"--resume"}), 77, "cannot be believed");
  fs::permissions(file, fs::perms::group_write, fs::perm_options::remove);

  std::string newer = bytes;
  ++newer.at(8);  // behind the eight bytes that every witness begins with
  std::ofstream(file, std::ios::binary) << newer;
  expect_refused(run({"--resume"}), 65, "has format 2, this version reads format 1; use the version that wrote it");

  fs::resize_file(file, 0);
  expect_refused(run({"--resume"}), 65, "is damaged");

  fs::remove(file);
  world.write("elsewhere", bytes);
  fs::create_symlink(world.path("elsewhere"), file);
  expect_refused(run({"--resume"}), 77, "no regular file");
  EXPECT_EQ(world.releases(), releases) << "nothing is published";
}

TEST_F(Witnessed, PipeBesideItHoldsUpNothing) {
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  ASSERT_EQ(::mkfifo(world.path("keys/a.witness").c_str(), 0600), 0);
  EXPECT_EQ(run({"--resume"}).code, 0);
}

TEST_F(Witnessed, MissingOneIsToldEvenQuietly) {
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  fs::remove(witness());
  const CommandResult resumed = run({"--resume", "--quiet"});
  EXPECT_EQ(resumed.code, 0);
  EXPECT_NE(resumed.err.find("no witness of this state folder"), std::string::npos) << resumed.err;
}

TEST_F(Witnessed, PlaceInsideTheFolderIsRefused) {
  expect_refused(run({"--set", "state.witness=\"" + world.path("state") + "\""}), 78, "lies in the state folder");
}

TEST_F(Witnessed, OlderCopyIsRefusedAndCharged) {
  begin_copy_and_go_on();
  const double spent = total_rho();
  copy_folder(world.path("copy"), world.path("state"));
  const std::string releases = world.releases();
  const CommandResult refused = run({"--resume"});
  expect_refused(refused, 65, "epoch 0, step 1000, as " + witness().string() + " tells");
  EXPECT_NE(refused.err.find("step 500"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("--new-epoch"), std::string::npos) << refused.err;
  EXPECT_EQ(world.releases(), releases) << "nothing is published";
  const CommandResult looked = run_command(NUSTREAM_COMMAND, {"inspect", world.path("state")});
  EXPECT_EQ(looked.code, 0);
  EXPECT_NE(looked.err.find("older state"), std::string::npos) << looked.err;
  const CommandResult rotated = run_command(NUSTREAM_COMMAND, {"key", "new", world.path("other.key")});
  ASSERT_EQ(rotated.code, 0);
  expect_refused(run_command(NUSTREAM_COMMAND, {"key", "rotate", world.path("state"), world.path("other.key")}), 65,
                 "older");
  ASSERT_EQ(run({"--new-epoch"}).code, 0);
  EXPECT_GT(total_rho(), spent + 0.4) << "the lost epoch's limit, and the new one";
  EXPECT_EQ(run({"--resume"}).code, 0);
}

// Settings that name another place, or a copy of the key, must not hide the witness of the folder's own key.
TEST_F(Witnessed, OlderCopyIsRefusedAlsoWhereTheSettingsNameAnotherPlace) {
  begin_copy_and_go_on();
  copy_folder(world.path("state"), world.path("newest"));
  copy_folder(world.path("copy"), world.path("state"));
  fs::create_directory(world.path("elsewhere"));
  fs::permissions(world.path("elsewhere"), fs::perms::owner_all);
  fs::copy_file(fs::canonical(world.path("state/key")), world.path("elsewhere/key"));
  for (const std::string& setting : {"state.witness=\"" + world.path("witnesses") + "\"",
                                     "state.key_file=\"" + world.path("elsewhere/key") + "\""}) {
    expect_refused(run({"--resume", "--set", setting}), 65, "older state");
  }
  // A folder that is the newest one goes on, and has its witness in the new place from then on.
  copy_folder(world.path("newest"), world.path("state"));
  const std::string place = "state.witness=\"" + world.path("witnesses") + "\"";
  const CommandResult resumed = run({"--resume", "--set", place});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(files_in(world.path("witnesses"), ".witness").size(), 1U);
}

// The witness in the place of the settings is not asked where later settings name none. So the one beside the
// folder's own key goes along.
TEST_F(Witnessed, OlderCopyIsRefusedAlsoWhereTheSettingsNameNoPlaceAnyMore) {
  const std::string place = "state.witness=\"" + world.path("witnesses") + "\"";
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  ASSERT_EQ(run({"--resume", "--to", "700", "--set", place}).code, 0);
  copy_folder(world.path("state"), world.path("copy"));
  ASSERT_EQ(run({"--resume", "--to", "1000", "--set", place}).code, 0);
  copy_folder(world.path("copy"), world.path("state"));
  expect_refused(run({"--resume"}), 65, "epoch 0, step 1000, as " + witness().string() + " tells");
}

// The key was moved, and the link of the folder leads to where it was, as does the witness that stayed there.
TEST_F(Witnessed, OlderCopyIsRefusedAlsoWhereTheKeyWasMoved) {
  begin_copy_and_go_on();
  fs::create_directory(world.path("elsewhere"));
  fs::permissions(world.path("elsewhere"), fs::perms::owner_all);
  fs::rename(fs::canonical(world.path("state/key")), world.path("elsewhere/key"));
  copy_folder(world.path("copy"), world.path("state"));
  expect_refused(run({"--resume", "--set", "state.key_file=\"" + world.path("elsewhere/key") + "\""}), 65,
                 "older state");
}

// Copies run in turn on one machine: each is refused once the other has run.
TEST_F(Witnessed, OtherCopyIsRefused) {
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  copy_folder(world.path("state"), world.path("copy"));
  ASSERT_EQ(run({"--resume", "--to", "1000"}, "copy").code, 0) << "as a moved folder";
  expect_refused(run({"--resume", "--to", "600"}), 65, "older state");
  EXPECT_EQ(run({"--resume", "--to", "1100"}, "copy").code, 0);
}

TEST_F(Witnessed, DeletedFolderIsNotAFreshBudget) {
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  for (const char* name : {"state", "ledger", "releases.jsonl"}) fs::remove(world.path(std::string("state/") + name));
  expect_refused(run({}), 65, "what was spent");
  fs::remove_all(world.path("state"));
  const CommandResult refused = run({});
  expect_refused(refused, 65, "--new-epoch");
  EXPECT_FALSE(fs::exists(world.path("state/state")));
  EXPECT_FALSE(fs::exists(world.path("state/releases.jsonl")));
  ASSERT_EQ(run({"--new-epoch", "--to", "1500"}).code, 0);
  EXPECT_NEAR(total_rho(), 1.0, 0.01) << "the limits of two epochs";
  EXPECT_EQ(run({}, "another").code, 0) << "another folder";
}

// The budget stops at the sum of both folders' spends.
TEST_F(Witnessed, DeletedFolderCountsAgainstTheBudget) {
  const std::vector<std::string> budget{"--set", "privacy.budget=0.7"};
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  fs::remove_all(world.path("state"));
  EXPECT_EQ(run({"--new-epoch", "--set", "privacy.budget=0.7"}).code, 73);
}

TEST_F(Witnessed, LostLedgerIsChargedByTheWitness) {
  begin_copy_and_go_on();
  fs::remove(world.path("state/ledger"));
  expect_refused(run({"--resume"}), 65, "ledger");
  fs::remove(world.path("state/state"));
  ASSERT_EQ(run({"--new-epoch"}).code, 0);
  EXPECT_NEAR(total_rho(), 1.0, 0.01);
}

TEST_F(Witnessed, FolderMayMove) {
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  fs::rename(world.path("state"), world.path("moved"));
  const CommandResult moved = run({"--resume", "--to", "1000"}, "moved");
  EXPECT_EQ(moved.code, 0) << moved.err;
  expect_no_warning(moved);
  EXPECT_EQ(run({}).code, 0) << "its old place is free again";
}

TEST_F(Witnessed, LostWitnessIsToldAndMadeAnew) {
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  fs::remove(witness());
  const CommandResult told = run({"--resume", "--to", "1000"});
  EXPECT_EQ(told.code, 0);
  EXPECT_NE(told.err.find("no witness of this state folder"), std::string::npos) << told.err;
  const CommandResult quiet = run({"--resume", "--to", "1500"});
  EXPECT_EQ(quiet.code, 0);
  expect_no_warning(quiet);
}

// A crash between the state and its witness leaves the folder so.
TEST_F(Witnessed, FolderMayBeAhead) {
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  const fs::path file = witness();
  const std::string before = read_file(file);
  ASSERT_EQ(run({"--resume", "--to", "1000"}).code, 0);
  fs::remove(file);
  world.write("keys/" + file.filename().string(), before);
  EXPECT_EQ(run({"--resume", "--to", "1500"}).code, 0);
}

TEST_F(Witnessed, ForgedWitnessIsRefused) {
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  const fs::path file = witness();
  const std::string bytes = read_file(file);
  for (const std::size_t at : {std::size_t{0}, std::size_t{60}, std::size_t{70}, bytes.size() - 1}) {
    std::string forged = bytes;
    forged[at] = static_cast<char>(forged[at] ^ 1);
    fs::remove(file);
    world.write("keys/" + file.filename().string(), forged);
    expect_refused(run({"--resume"}), 65, file.string());
  }
}

TEST_F(Witnessed, WitnessLiesWhereItIsAskedFor) {
  const std::vector<std::string> asked{"--set", "state.witness=\"" + world.path("witnesses") + "\""};
  std::vector<std::string> first = asked;
  first.insert(first.end(), {"--to", "500"});
  ASSERT_EQ(run(first).code, 0);
  EXPECT_EQ(files_in(world.path("witnesses"), ".witness").size(), 1U);
  EXPECT_TRUE(files_in(world.path("keys"), ".witness").empty());
  copy_folder(world.path("state"), world.path("copy"));
  std::vector<std::string> next = asked;
  next.push_back("--resume");
  ASSERT_EQ(run(next).code, 0);
  copy_folder(world.path("copy"), world.path("state"));
  expect_refused(run(next), 65, "--new-epoch");
  world.write("file", "");
  expect_refused(run({"--set", "state.witness=\"" + world.path("file/below") + "\""}, "other"), 77, "state.witness");
  const CommandResult none = run({"--set", "state.witness=none"}, "third");
  EXPECT_EQ(none.code, 0);
  EXPECT_NE(none.err.find("no witness is kept"), std::string::npos) << none.err;
}

TEST_F(Witnessed, RunsThatPromiseNothingHaveNone) {
  ASSERT_EQ(run({"--insecure-seed", "1", "--to", "500"}).code, 0);
  EXPECT_FALSE(fs::exists(world.path("keys")));
  fs::remove_all(world.path("state"));
  EXPECT_EQ(run({"--insecure-seed", "1"}).code, 0);
}

// The epochs of one folder, and the runs of an estimate, are one account.
TEST_F(Witnessed, EpochsAreOneAccount) {
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  copy_folder(world.path("state"), world.path("copy"));
  ASSERT_EQ(run({"--new-epoch", "--from", "0"}).code, 0);
  static_cast<void>(witness());
  copy_folder(world.path("copy"), world.path("state"));
  expect_refused(run({"--resume"}), 65, "epoch 1, step 2000");
  ASSERT_EQ(run({"--new-epoch", "--from", "0"}).code, 0);
  EXPECT_NEAR(total_rho(), 0.5 + 0.5 + 0.5, 0.02) << "the first epoch, the lost one, the new one";
}

/// A run by user, of which each user may take part in 16 steps, five steps apart: after 25 steps nobody can have
/// spent more than a third of rho.
class WitnessedUsers : public ::testing::Test {
 protected:
  [[nodiscard]] CommandResult run(const std::vector<std::string>& more) const {
    return world.run(with({"--quiet", "--set", "state.key_directory=" + world.path("keys")}, more));
  }
  [[nodiscard]] double total_rho() const {
    const CommandResult result = run_command(NUSTREAM_COMMAND, {"inspect", world.path("state"), "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    simdjson::dom::parser parser;
    return parser.parse(result.out)["total_rho"].get_double().value();
  }
  void lose(const std::vector<std::string>& files) const {
    for (const std::string& name : files) fs::remove_all(world.path("state/" + name));
  }

  const UsersWorld world{2000, 40, "participations = 16\nseparation = 5\n"};
};

// Behind its witness, an epoch that is lost may have met any user as often as the limits allow.
TEST_F(WitnessedUsers, LostEpochIsChargedToEveryUserAtItsLimit) {
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  EXPECT_LT(total_rho(), 0.17);
  copy_folder(world.path("state"), world.path("whole"));
  lose({"state", "ledger", "releases.jsonl"});
  EXPECT_EQ(run({}).code, 65);
  const CommandResult anew = run({"--new-epoch", "--to", "600"});
  ASSERT_EQ(anew.code, 0);
  EXPECT_GT(total_rho(), 0.5);
  EXPECT_NE(anew.err.find("'nustream users close' closed there count again"), std::string::npos) << anew.err;

  // The last release tells of less, and stands in the way of nothing.
  copy_folder(world.path("whole"), world.path("state"));
  lose({"state", "ledger"});
  ASSERT_EQ(run({"--new-epoch", "--to", "700"}).code, 0);
  EXPECT_GT(total_rho(), 0.5);
}

TEST_F(WitnessedUsers, OlderCopyIsChargedToEveryUserAtItsLimit) {
  ASSERT_EQ(run({"--to", "100"}).code, 0);
  copy_folder(world.path("state"), world.path("copy"));
  ASSERT_EQ(run({"--resume", "--to", "500"}).code, 0);
  copy_folder(world.path("copy"), world.path("state"));
  EXPECT_EQ(run({"--resume"}).code, 65);
  ASSERT_EQ(run({"--new-epoch", "--to", "600"}).code, 0);
  EXPECT_GT(total_rho(), 0.5);
  EXPECT_EQ(run({"--resume", "--to", "700"}).code, 0) << "the lost epoch is charged, once";
}

TEST(WitnessedEstimate, OlderCopyIsRefused) {
  const EstimateWorld world;
  const std::vector<std::string> keys{"--set", "state.key_directory=" + world.path("keys")};
  ASSERT_EQ(world.run(keys).code, 0);
  copy_folder(world.path("state"), world.path("copy"));
  std::vector<std::string> again = keys;
  again.push_back("--new-epoch");
  ASSERT_EQ(world.run(again).code, 0);
  copy_folder(world.path("copy"), world.path("state"));
  std::vector<std::string> resume = keys;
  resume.push_back("--resume");
  const CommandResult refused = world.run(resume);
  EXPECT_EQ(refused.code, 65) << refused.err;
  EXPECT_NE(refused.err.find("older state"), std::string::npos) << refused.err;
  EXPECT_EQ(world.run(again).code, 0);
}

}  // namespace
}  // namespace nustream::tests
