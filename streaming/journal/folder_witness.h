// The witness of one state folder: found before the folder is opened, asked whether the folder is still what was last
// committed, and kept while it runs.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "journal/disk.h"
#include "journal/ledger_chain.h"
#include "journal/state_record.h"
#include "journal/witness.h"
#include "journal/witness_keeper.h"
#include "secrets/keyring.h"

namespace nustream::journal {

/// Whose witness it is, and where it is kept.
struct WitnessSettings {
  std::filesystem::path place;   ///< folder of the witness's file; empty: none is kept
  bool is_asked_for = false;     ///< by a setting: a place that cannot be written is a failure then, else a warning
  std::filesystem::path folder;  ///< of the state
  std::string stream;
  LaneId lane{0};
};

/// The folder for witnesses: `setting` (state.witness), where it is neither empty nor "none"; or else that of the key
/// file, where this lies outside the state folder; or else where keys are made, of which `key_directory` is the
/// setting. Empty for "none", and where there is no such place.
[[nodiscard]] std::filesystem::path witness_place(const std::string& setting, const std::filesystem::path& key_file,
                                                  const std::filesystem::path& folder,
                                                  const std::filesystem::path& key_directory);

/// The same with what else is known of the witness. `setting` and `key_directory` as there.
[[nodiscard]] WitnessSettings witness_settings(const std::string& setting, const std::filesystem::path& key_file,
                                               const std::filesystem::path& folder,
                                               const std::filesystem::path& key_directory, std::string stream,
                                               LaneId lane);

/// One run's side of it. One thread; the keeper has one of its own.
class FolderWitness {
 public:
  /// Touches nothing.
  FolderWitness(WitnessSettings settings, secrets::Keyring keys);

  /// Looks for the witness of the account that the state names; without a state, or in one that names none, for one
  /// that tells of this folder's path. Failure(data) where the account's file is damaged, or is under another key and
  /// tells of a commit that the folder, whose state's own line is `ledger_head`, does not hold; Failure(permission)
  /// where it is there and cannot be read; Failure(configuration) where the place lies in the state folder. Without
  /// an account Failure(data) also where a witness under another key tells of this path, or one with a name of this
  /// stream is malformed: it may be the folder's, and nothing else could tell.
  void find(const std::optional<AccountId>& account, const std::optional<Hash>& ledger_head = {});
  [[nodiscard]] const std::optional<Witness>& found() const noexcept { return found_; }
  /// Warns that releases or a ledger are there whose account no state names and no witness knows by the folder's
  /// path.
  void doubt_files();
  /// True behind find(), which is called once.
  [[nodiscard]] bool is_looked_for() const noexcept { return account_ != AccountId{}; }
  /// The file; empty before find(), and where none is kept.
  [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }

  /// True where the folder, once the own lines of the state `record` are in its ledger, holds all that the witness
  /// tells of; where there is no witness; and where the state's epoch was begun behind the witness, so that the
  /// ledger charges all that the witness tells of although it does not hold it. `epoch` and `steps` are the state's.
  [[nodiscard]] bool is_held_by(Disk& disk, EpochId epoch, StepCount steps, const StateRecord& record) const;
  /// The epochs whose spend the witness knows and `ledger` lacks, where the ledger in `folder` does not hold what the
  /// witness tells of: what a new epoch begins with as owed. The last of them is charged its limit, for it may have
  /// gone on behind the witness. `is_older`: the folder's state is known not to hold it, whatever the ledger does.
  [[nodiscard]] std::vector<LedgerEntry> lost(Disk& disk, const Ledger& ledger, bool is_older = false) const;
  /// What the witness tells of, in words: "epoch 0, step 1,000".
  [[nodiscard]] std::string told() const;

  /// The account that the folder's states name from now on.
  [[nodiscard]] const AccountId& account() const noexcept { return account_; }
  /// One sentence for the operator; empty where all is well.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }

  /// Has the state's commits told to the file from now on; makes the place where it is missing. Failure(permission)
  /// where the place was asked for and cannot be written.
  void keep();
  /// A commit is durable. `epochs` as Witness::epochs. Any thread.
  void committed(EpochId epoch, StepCount steps, const Hash& ledger_head, std::vector<LedgerEntry> epochs);
  /// Waits until the last commit is told. Failure(data) where another run writes the same witness; a file that could
  /// not be written becomes the warning.
  void finish();
  /// The same failure, as soon as it is known.
  void check();

 private:
  void require_place_outside() const;
  void look_at(const std::filesystem::path& file, bool has_account);
  void cannot_be_listed(const std::error_code& why);
  void judge_own_file(const std::optional<Hash>& ledger_head);
  [[nodiscard]] std::vector<LedgerEntry> not_charged_by(const Ledger& ledger) const;
  [[nodiscard]] bool is_charged(Disk& disk, const StateRecord& record) const;
  [[nodiscard]] bool is_a_branch(Disk& disk, const StateRecord& record) const;
  [[nodiscard]] bool make_place();

  WitnessSettings settings_;
  secrets::Keyring keys_;
  AccountId account_{};
  std::filesystem::path file_;
  std::string bytes_;   // of the file, as it was found
  std::string folder_;  // of the state, links resolved, once it is kept
  std::optional<Witness> found_;
  std::string warning_;
  std::unique_ptr<WitnessKeeper> keeper_;
};

}  // namespace nustream::journal
