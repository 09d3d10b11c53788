// State folders whose account is gone: a witness that names the folder's path is found whatever the settings are
// called now, and a folder of another account does not take the place of the old one unseen.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "expect_failure.h"
#include "folder_and_witness.h"
#include "journal/folder_witness.h"
#include "journal/lost_account.h"
#include "journal/witness_files.h"
#include "keys_from.h"
#include "secrets/key_place.h"
#include "temporary_folder.h"
#include "witness_example.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;

const journal::AccountId another_account{8};

class LostAccountAndItsWitness : public AFolderAndItsWitness {
 protected:
  /// Settings that name another place than that of the folder's own key.
  [[nodiscard]] journal::WitnessSettings elsewhere() const {
    journal::WitnessSettings named = settings();
    named.place = folder.path() / "named";
    named.beside_own_key = folder.path() / "keys";
    return named;
  }
  /// Writes a witness of another account beside the one of witness_of(), which names `path`.
  void write_other_witness(const fs::path& path) const {
    journal::Witness other;
    other.account = another_account;
    other.stream = "mine";
    other.folder = secrets::real_path(path).string();
    other.steps = StepCount{5};
    other.ledger_head = heads[1];
    const fs::path file = journal::witness_file(folder.path() / "keys", "mine", another_account);
    folder.write("keys/" + file.filename().string(), journal::encode_witness(other, keys_from(1)));
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  }
  static void expect_refused(const journal::WitnessSettings& named, const std::optional<journal::AccountId>& id,
                             std::uint8_t first, const std::string& part) {
    journal::FolderWitness witness(named, keys_from(first));
    expect_failure(
        Exit::data, [&] { witness.find(id); }, part);
  }
  [[nodiscard]] static bool is_found(const journal::WitnessSettings& named) {
    journal::FolderWitness witness(named, keys_from(1));
    witness.find(std::nullopt);
    return witness.found().has_value();
  }
};

// A stream by another name would begin at a spend of nothing, in the folder where this one has spent.
TEST_F(LostAccountAndItsWitness, IsNotForgottenUnderAnotherNameOfItsStream) {
  witness_of(2, account);
  journal::WitnessSettings renamed = settings();
  renamed.stream = "other";
  journal::WitnessSettings of_lane = settings();
  of_lane.lane = LaneId{1};
  for (const journal::WitnessSettings& named : {renamed, of_lane}) {
    expect_failure(
        Exit::data, [&] { journal::require_no_other_stream(named); }, "epoch 0, step 200 of stream mine, lane 0");
    for (const std::uint8_t first : {std::uint8_t{1}, std::uint8_t{2}}) {
      expect_refused(named, std::nullopt, first, "for a stream or lane that is not this one");
    }
  }
  EXPECT_NO_THROW(journal::require_no_other_stream(settings()));
  renamed.folder = folder.path() / "other";
  EXPECT_NO_THROW(journal::require_no_other_stream(renamed)) << "a folder of its own";
  EXPECT_FALSE(is_found(renamed));
  renamed.folder = settings().folder;
  fs::remove(journal::witness_file(folder.path() / "keys", "mine", account));
  EXPECT_FALSE(is_found(renamed)) << "moved away, as the message says";
}

// The key that the folder's link leads to is not the one that the settings name, or the witness's place is another.
TEST_F(LostAccountAndItsWitness, IsFoundBesideTheFoldersOwnKey) {
  witness_of(2, account);
  expect_refused(elsewhere(), std::nullopt, 2, "under a key that is not this one");
  journal::WitnessSettings renamed = elsewhere();
  renamed.stream = "other";
  expect_refused(renamed, std::nullopt, 1, "for a stream or lane that is not this one");
  const fs::path own = journal::witness_file(folder.path() / "keys", "mine", account);
  journal::FolderWitness witness(elsewhere(), keys_from(1));
  witness.find(std::nullopt);
  ASSERT_TRUE(witness.found());
  EXPECT_EQ(witness.account(), account);
  EXPECT_EQ(witness.file(), own);
  // A new epoch goes on with the account, in both places.
  witness.keep();
  witness.committed(EpochId{1}, StepCount{10}, heads[3], {entry(0, 200), entry(1, 10)});
  witness.finish();
  EXPECT_EQ(witness.file(), journal::witness_file(secrets::real_path(folder.path() / "named"), "mine", account));
  EXPECT_EQ(read_file(witness.file()), read_file(own));
}

// With `state.witness = "none"` no witness is asked.
// The key of a folder that was deleted with its link may have been made before the settings named a folder of keys.
TEST_F(LostAccountAndItsWitness, IsFoundWhereKeysAreMadeWithoutASetting) {
  witness_of(2, account);
  journal::WitnessSettings directory = elsewhere();
  directory.beside_own_key = folder.path() / "directory";
  EXPECT_FALSE(is_found(directory));
  directory.usual = folder.path() / "keys";
  expect_refused(directory, std::nullopt, 2, "under a key that is not this one");
  EXPECT_TRUE(is_found(directory));
  directory.stream = "other";
  expect_failure(
      Exit::data, [&] { journal::require_no_other_stream(directory); }, "epoch 0, step 200 of stream mine, lane 0");
}

TEST_F(LostAccountAndItsWitness, IsNotLookedForWhereNoWitnessIsKept) {
  witness_of(2, account);
  journal::WitnessSettings none = settings();
  none.place.clear();
  none.stream = "other";
  none.beside_own_key = folder.path() / "keys";
  EXPECT_NO_THROW(journal::require_no_other_stream(none));
  EXPECT_FALSE(is_found(none));
}

// A new epoch could be charged for one of them alone.
TEST_F(LostAccountAndItsWitness, IsOneOfTwoThatCannotBothBeCharged) {
  witness_of(2, account);
  write_other_witness(state());
  expect_refused(settings(), std::nullopt, 1, ".witness tells of another account there");
  write_other_witness(folder.path() / "moved");
  EXPECT_TRUE(is_found(settings()));
}

// A state that was begun where nobody asked the witness, or was put in the place of the old one.
TEST_F(LostAccountAndItsWitness, IsNotReplacedByAnotherUnseen) {
  witness_of(2, account);
  expect_refused(settings(), another_account, 1, "but an account of which no witness in");
  // The folder was moved here, as its own witness shows. The old account's spend may be missing from its ledger.
  write_other_witness(folder.path() / "moved");
  journal::FolderWitness witness(settings(), keys_from(1));
  witness.find(another_account);
  EXPECT_TRUE(witness.found());
  EXPECT_NE(witness.warning().find("tells of another account in"), std::string::npos) << witness.warning();
  // A witness beside the key alone may be another machine's, which has a folder of the same path.
  journal::FolderWitness beside(elsewhere(), keys_from(1));
  beside.find(journal::AccountId{7});
  EXPECT_EQ(beside.warning().find("another account"), std::string::npos) << beside.warning();
}

TEST(WitnessSettings, NameTheFolderOfTheOwnKeyWhateverTheKeyFile) {
  const TemporaryFolder folder;
  const fs::path state = folder.path() / "state";
  const fs::path keys = secrets::real_path(folder.path() / "keys");
  fs::create_directory(state);
  const auto beside = [&] {
    return journal::witness_settings("", "/etc/nustream/key", state, keys, "mine", LaneId{0}).beside_own_key;
  };
  EXPECT_EQ(beside(), keys) << "where it would have been made";
  fs::create_symlink(folder.path() / "linked/mine.key", state / "key");
  EXPECT_EQ(beside(), secrets::real_path(folder.path() / "linked"));
  fs::remove(state / "key");
  fs::create_symlink("inside.key", state / "key");
  EXPECT_EQ(beside(), "") << "it would be restored together with the folder";
}

}  // namespace
}  // namespace nustream::tests
