// A state folder and its witness: which of them is behind, and where a witness is kept.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "expect_failure.h"
#include "folder_and_witness.h"
#include "journal/folder_witness.h"
#include "journal/witness_files.h"
#include "keys_from.h"
#include "secrets/hex.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Settings that name another place than that of the folder's own key, which is `own`.
class WithAnotherPlace : public AFolderAndItsWitness {
 protected:
  [[nodiscard]] std::string own_after(const fs::path& own) const {
    witness_of(1, account);  // beside the folder's own key
    const fs::path file = journal::witness_file(folder.path() / "keys", "mine", account);
    before_ = content_of(file);
    journal::WitnessSettings named = settings();
    named.place = folder.path() / place_;
    named.is_asked_for = true;
    named.beside_own_key = own;
    journal::FolderWitness witness(named, keys_from(1));
    witness.find(account);
    witness.keep();
    for (const std::size_t count : {2U, 3U}) {
      witness.committed(EpochId{0}, StepCount{100 * count}, heads[count], {entry(0, 100 * count)});
      witness.finish();
    }
    return content_of(file);
  }

  std::string place_ = "named";
  mutable std::string before_;
};

TEST_F(WithAnotherPlace, TheWitnessBesideTheFoldersOwnKeyGoesAlong) {
  const std::string after = own_after(folder.path() / "keys");
  EXPECT_NE(after, before_);
  EXPECT_EQ(after, content_of(journal::witness_file(folder.path() / "named", "mine", account)));
}

// A volume may be mounted at two paths. Two keepers of one file would take each other for copies of the folder.
TEST_F(WithAnotherPlace, OnePlaceByTwoPathsIsWrittenOnce) {
  place_ = "keys";
  fs::create_directory(folder.path() / "keys");
  EXPECT_NE(own_after(folder.path() / "keys/../keys"), before_);
}

TEST_F(WithAnotherPlace, AFolderThatOthersMayWriteToIsLeftAlone) {
  fs::create_directory(folder.path() / "keys");
  fs::permissions(folder.path() / "keys", fs::perms::owner_all);
  EXPECT_NE(own_after(folder.path() / "keys"), before_);
  fs::permissions(folder.path() / "keys", fs::perms::all);
  const fs::path file = journal::witness_file(folder.path() / "keys", "mine", account);
  const std::string kept = content_of(file);
  journal::WitnessSettings named = settings();
  named.place = folder.path() / place_;
  named.beside_own_key = folder.path() / "keys";
  journal::FolderWitness witness(named, keys_from(1));
  witness.find(account);
  witness.keep();
  witness.committed(EpochId{0}, StepCount{301}, heads[3], {entry(0, 301)});
  witness.finish();
  EXPECT_EQ(content_of(file), kept);
}

TEST_F(AFolderAndItsWitness, MayBeAheadOfItAndNeverBehind) {
  EXPECT_TRUE(is_held(3, account)) << "no witness";
  witness_of(2, account);
  EXPECT_TRUE(is_held(3, account)) << "a crash between the state and its witness";
  EXPECT_TRUE(is_held(2, account));
  hold(1);
  EXPECT_TRUE(is_held(2, account)) << "the state's own line is not in the ledger yet";
  EXPECT_FALSE(is_held(1, account)) << "an older copy";
  EXPECT_FALSE(is_held(0, account));
}

// Between two lines of the ledger only the steps tell one commit from another.
TEST_F(AFolderAndItsWitness, KnowsAnOlderCopyUnderTheSameLine) {
  witness_of(2, account);
  journal::FolderWitness witness(settings(), keys_from(1));
  witness.find(account);
  const auto disk = journal::posix_disk();
  journal::StateRecord record;
  record.ledger_head = heads[2];
  const auto is_held = [&](std::uint64_t steps) {
    return witness.is_held_by(*disk, EpochId{0}, StepCount{steps}, record);
  };
  EXPECT_FALSE(is_held(199));
  EXPECT_TRUE(is_held(200));
  EXPECT_TRUE(is_held(201)) << "a crash between the state and its witness";
  // The ledger holds the line, so it lacks nothing by itself. A state that is known to be older is charged for what
  // it has not taken all the same.
  EXPECT_TRUE(witness.lost(*disk, journal::read_ledger(*disk, state(), keys_from(1))).empty());
  ASSERT_EQ(witness.lost(*disk, journal::read_ledger(*disk, state(), keys_from(1)), true).size(), 1U);
}

// A copy of the folder went on under the same ledger line; the copy's own line says from which step count it went on.
TEST_F(AFolderAndItsWitness, KnowsACopyThatWentOnByItself) {
  witness_of(2, account);
  journal::FolderWitness witness(settings(), keys_from(1));
  witness.find(account);
  const auto disk = journal::posix_disk();
  for (const std::uint64_t from : {199U, 200U, 230U}) {
    hold(2);
    journal::LedgerEntry resumed = entry(0, 400);
    resumed.taken = StepCount{from};
    const std::string line = journal::ledger_line(resumed, heads[2], keys_from(1));
    journal::StateRecord record;
    record.ledger_head = journal::hash_of(line);
    for (const bool in_the_file : {false, true}) {
      record.ledger_entry = in_the_file ? "" : line;
      if (in_the_file) std::ofstream(state() / "ledger", std::ios::app | std::ios::binary) << line;
      EXPECT_EQ(witness.is_held_by(*disk, EpochId{0}, StepCount{350}, record), from >= 200) << from;
    }
  }
}

// The witness is under an earlier key, as where a rotation did not know of its place. A copy that was rotated holds
// its line, and went on behind it from an earlier step.
TEST_F(AFolderAndItsWitness, UnderAnEarlierKeyKnowsACopyThatWentOnByItself) {
  witness_of(2, account);
  for (const std::uint64_t from : {199U, 200U, 230U}) {
    hold(2);
    const std::string closing = journal::ledger_line(entry(0, from), heads[2], keys_from(1));
    std::ofstream(state() / "ledger", std::ios::app | std::ios::binary) << closing;
    journal::State held{{"mine", LaneId{0}, EpochId{0}, StepCount{from}, {}, true}, {}};
    held.record.ledger_head = journal::hash_of(closing);
    for (const bool is_beside_own_key : {false, true}) {
      journal::WitnessSettings named = settings();
      if (is_beside_own_key) named.place = folder.path() / "named";
      if (is_beside_own_key) named.beside_own_key = folder.path() / "keys";
      journal::FolderWitness witness(named, keys_from(2));
      if (from >= 200) {
        EXPECT_NO_THROW(witness.find(account, &held)) << from;
      } else {
        expect_failure(
            Exit::data, [&] { witness.find(account, &held); }, "is an older copy");
      }
    }
  }
}

/// An epoch of which every user may use a mass of 2.
journal::LedgerEntry by_mass(std::uint32_t epoch, std::uint64_t steps, bool carries_over) {
  journal::LedgerEntry line = entry(epoch, steps);
  line.neighbours.of_user = true;
  line.user.emplace(users::Limits({}, Mass{2}), carries_over, std::vector<Rho>{}, line.rho);
  return line;
}

// The copy's second epoch went on with counts that know nothing of the lost steps of the first one: a user may have
// used all of its mass in both.
TEST_F(AFolderAndItsWitness, LetsTheNextEpochOfACopyBeginAnew) {
  witness_of(3, by_mass(0, 300, false), account);
  hold(1);
  journal::FolderWitness witness(settings(), keys_from(1));
  witness.find(account);
  const auto disk = journal::posix_disk();
  journal::Ledger copy;
  copy.epochs = {by_mass(0, 100, false), by_mass(1, 100, true), by_mass(2, 100, true)};
  copy.reserving = by_mass(1, 150, true);
  const std::vector<journal::LedgerEntry> lost = witness.lost(*disk, copy);
  ASSERT_EQ(lost.size(), 2U);
  EXPECT_EQ(lost[1].epoch, EpochId{1});
  EXPECT_EQ(lost[1].steps, StepCount{150}) << "a state that is older does not say how many were taken";
  EXPECT_FALSE(lost[1].user->carries_over);
  for (const journal::LedgerEntry& line : lost) copy.keep(line);
  EXPECT_TRUE(witness.lost(*disk, copy).empty()) << "it is charged once";
}

// Without a state only the path says which folder a witness belongs to.
TEST_F(AFolderAndItsWitness, IsKnownByItsPathWhereTheStateIsGone) {
  witness_of(2, account);
  journal::FolderWitness witness(settings(), keys_from(1));
  witness.find(std::nullopt);
  ASSERT_TRUE(witness.found());
  EXPECT_EQ(witness.account(), account);
  EXPECT_EQ(witness.told(), "epoch 0, step 200");
  journal::WitnessSettings elsewhere = settings();
  elsewhere.folder = folder.path() / "other";
  journal::FolderWitness other(elsewhere, keys_from(1));
  other.find(std::nullopt);
  EXPECT_FALSE(other.found());
  EXPECT_NE(other.account(), account);
  // The same folder under another name.
  fs::create_directory_symlink(state(), folder.path() / "link");
  elsewhere.folder = folder.path() / "link/";
  journal::FolderWitness linked(elsewhere, keys_from(1));
  linked.find(std::nullopt);
  EXPECT_TRUE(linked.found());
}

TEST_F(AFolderAndItsWitness, RefusesADamagedOne) {
  witness_of(2, account);
  const fs::path file = folder.path() / "keys" / ("mine-" + secrets::to_hex(account).substr(0, 16) + ".witness");
  std::string bytes = read_file(file);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  folder.write("keys/" + file.filename().string(), bytes);
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  expect_failure(
      Exit::data, [&] { static_cast<void>(is_held(3, account)); }, "damaged");
  expect_failure(
      Exit::data, [&] { static_cast<void>(is_held(3, std::nullopt)); }, "damaged");
}

// Otherwise somebody who deletes the folder and damages its witness, or loses its key, would begin at a spend of
// nothing.
TEST_F(AFolderAndItsWitness, IsNotForgottenWhereTheStateIsGoneAndItCannotBeBelieved) {
  witness_of(2, account);
  const std::string name = "mine-" + secrets::to_hex(account).substr(0, 16) + ".witness";
  const fs::path file = folder.path() / "keys" / name;
  const std::string bytes = read_file(file);
  const auto find = [&](const std::string& stream = "mine", std::uint8_t first = 1) {
    journal::WitnessSettings of_stream = settings();
    of_stream.stream = stream;
    journal::FolderWitness witness(of_stream, keys_from(first));
    witness.find(std::nullopt);
    return witness.found().has_value();
  };
  const auto write = [&](const std::string& changed) {
    fs::remove(file);
    folder.write("keys/" + name, changed);
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  };
  expect_failure(
      Exit::data, [&] { static_cast<void>(find("mine", 2)); }, "under a key that is not this one");
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
    write(bytes.substr(0, length));
    expect_failure(
        Exit::data, [&] { static_cast<void>(find()); }, "may tell what this state folder has spent");
    EXPECT_FALSE(find("another")) << "of a stream by another name";
    EXPECT_FALSE(find("min")) << "of a stream by another name";
  }
  std::string newer = bytes;
  ++newer.at(8);  // behind the eight bytes that every witness begins with
  write(newer);
  expect_failure(
      Exit::data, [&] { static_cast<void>(find()); }, "has format 2, this version reads format 1");
  write(bytes);
  fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
  expect_failure(
      Exit::permission, [&] { static_cast<void>(find()); }, "cannot be believed");
  fs::remove(file);
  fs::create_symlink(folder.write("elsewhere", bytes), file);
  expect_failure(
      Exit::permission, [&] { static_cast<void>(find()); }, "no regular file");
  fs::remove(file);
  EXPECT_FALSE(find()) << "moved away, as the messages say";
  write(bytes);
  EXPECT_TRUE(find());
}

// Witnesses of other folders, of the same stream and under other keys, may stand beside it.
TEST_F(AFolderAndItsWitness, StandsBesideThoseOfOtherFolders) {
  witness_of(2, account);
  journal::WitnessSettings elsewhere = settings();
  elsewhere.folder = folder.path() / "other";
  journal::FolderWitness other(elsewhere, keys_from(2));
  other.find(std::nullopt);
  EXPECT_FALSE(other.found());
  EXPECT_TRUE(other.warning().empty()) << other.warning();
  journal::FolderWitness of_a_state(elsewhere, keys_from(1));
  of_a_state.find(journal::AccountId{8});
  EXPECT_FALSE(of_a_state.found());
}

TEST_F(AFolderAndItsWitness, SaysWherePlacesCannotBeLookedThrough) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every folder";
  fs::create_directory(folder.path() / "keys");
  fs::permissions(folder.path() / "keys", fs::perms::owner_write | fs::perms::owner_exec);
  journal::FolderWitness witness(settings(), keys_from(1));
  witness.find(std::nullopt);
  EXPECT_NE(witness.warning().find("no witness can be looked for"), std::string::npos) << witness.warning();
  journal::WitnessSettings asked = settings();
  asked.is_asked_for = true;
  journal::FolderWitness refused(asked, keys_from(1));
  expect_failure(
      Exit::permission, [&] { refused.find(std::nullopt); }, "state.witness");
  fs::permissions(folder.path() / "keys", fs::perms::owner_all);
}

TEST_F(AFolderAndItsWitness, IsNotKeptBelowAFolderThatOthersWriteTo) {
  fs::permissions(folder.path(), fs::perms::all);
  journal::FolderWitness warned(settings(), keys_from(1));
  warned.find(account);
  warned.keep();
  EXPECT_NE(warned.warning().find("put another folder in its place"), std::string::npos) << warned.warning();
  journal::WitnessSettings asked = settings();
  asked.is_asked_for = true;
  journal::FolderWitness refused(asked, keys_from(1));
  refused.find(account);
  expect_failure(
      Exit::permission, [&] { refused.keep(); }, "put another folder in its place");
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST_F(AFolderAndItsWitness, SaysWhereItIsLostOrCannotBeKept) {
  journal::FolderWitness lost(settings(), keys_from(1));
  lost.find(account);
  EXPECT_NE(lost.warning().find("no witness of this state folder"), std::string::npos);
  journal::WitnessSettings none = settings();
  none.place.clear();
  journal::FolderWitness off(none, keys_from(1));
  off.find(account);
  off.keep();
  EXPECT_NE(off.warning().find("no witness is kept"), std::string::npos);
  EXPECT_TRUE(off.file().empty());
  journal::WitnessSettings blocked = settings();
  blocked.place = std::filesystem::path(folder.write("a-file", "no folder")) / "below";
  journal::FolderWitness warned(blocked, keys_from(1));
  warned.find(account);
  warned.keep();
  EXPECT_NE(warned.warning().find("cannot be kept"), std::string::npos);
  blocked.is_asked_for = true;
  journal::FolderWitness refused(blocked, keys_from(1));
  refused.find(account);
  expect_failure(
      Exit::permission, [&] { refused.keep(); }, "state.witness");
}

TEST_F(AFolderAndItsWitness, MayNotLieInTheFolder) {
  journal::WitnessSettings inside = settings();
  inside.place = inside.folder;
  journal::FolderWitness refused(inside, keys_from(1));
  expect_failure(
      Exit::configuration, [&] { refused.find(account); }, "lies in the state folder");
}

TEST(WitnessPlace, IsOutsideTheStateFolder) {
  EXPECT_EQ(journal::witness_place("", "/keys/mine.key", "/data/mine", "/usual"), "/keys");
  EXPECT_EQ(journal::witness_place("", "/data/mine/key", "/data/mine", "/usual"), "/usual");
  EXPECT_EQ(journal::witness_place("", "mine.key", "/data/mine", "/usual"), fs::current_path());
  EXPECT_EQ(journal::witness_place("/var/w", "/keys/mine.key", "/data/mine", "/usual"), "/var/w");
  EXPECT_EQ(journal::witness_place("none", "/keys/mine.key", "/data/mine", "/usual"), "");
}

}  // namespace
}  // namespace nustream::tests
