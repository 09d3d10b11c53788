// The witness of one state folder (witness.h). It is found before the folder is opened, asked whether the folder
// still holds what was committed last, and kept up to date while the folder's lane runs.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "journal/disk.h"
#include "journal/ledger_chain.h"
#include "journal/state_record.h"
#include "journal/witness.h"
#include "journal/witness_keeper.h"
#include "secrets/keyring.h"

namespace nustream::journal {

/// Which folder's witness it is, and where it is kept.
struct WitnessSettings {
  std::filesystem::path place;  ///< the folder of the witness's file; empty where no witness is kept
  /// True where a setting names the place. If the place cannot be written, a run then fails; otherwise it only warns.
  bool is_asked_for = false;
  std::filesystem::path folder;  ///< the state folder
  std::string stream;
  LaneId lane{0};
  /// Where the folder's witness would be kept if the settings named neither a key file nor a place: beside the key
  /// that the folder itself leads to, or else in the folder where keys are made. Empty where there is no such place
  /// outside the state folder. A witness there counts too: settings that name another key or place must not hide it.
  std::filesystem::path beside_own_key{};
  /// Where keys are made without `state.key_directory`, if that is set. A folder that lost its state and its link to
  /// the key may have had its key there. Empty where there is no such place outside the state folder.
  std::filesystem::path usual{};
};

/// The folder where the witness is kept. It is `setting` (state.witness), where that is neither empty nor "none".
/// With an empty setting it is the folder of the key file, if that lies outside the state folder, and otherwise the
/// folder where keys are made, which the setting `key_directory` names. Empty for "none", and where there is no such
/// place.
[[nodiscard]] std::filesystem::path witness_place(const std::string& setting, const std::filesystem::path& key_file,
                                                  const std::filesystem::path& folder,
                                                  const std::filesystem::path& key_directory);

/// All settings of a folder's witness, with the place as witness_place() gives it.
[[nodiscard]] WitnessSettings witness_settings(const std::string& setting, const std::filesystem::path& key_file,
                                               const std::filesystem::path& folder,
                                               const std::filesystem::path& key_directory, std::string stream,
                                               LaneId lane);

/// A run's view of its folder's witness. To be used from one thread; the keeper within it has its own thread.
class FolderWitness {
 public:
  /// Reads and writes nothing yet.
  FolderWitness(WitnessSettings settings, secrets::Keyring keys);

  /// Looks for the witness of the account that the folder's state names. Without a state, or where the state names no
  /// account, it looks for a witness that tells of this folder's path. Both are looked for in the place of the
  /// settings and beside the folder's own key. `held` is the folder's state, with which a witness under another key
  /// is compared; where it is null, no such witness is judged.
  ///
  /// Throws Failure(data) where the account's file is damaged, or is under another key and tells of a commit that the
  /// folder does not hold; Failure(permission) where it is there and cannot be read; Failure(configuration) where the
  /// place lies in the state folder. It throws Failure(data) also where there is no witness of the account, but one
  /// of another account that tells of this path.
  ///
  /// Without an account it throws Failure(data) where a witness of another stream or lane, or under another key,
  /// tells of this path; where the witnesses of two accounts do; and where a file with a name of this stream is
  /// malformed: it may be this folder's witness, and nothing else could tell.
  void find(const std::optional<AccountId>& account, const State* held = nullptr);
  [[nodiscard]] const std::optional<Witness>& found() const noexcept { return found_; }
  /// Whether the witness that counts lies in the place of the settings. False where there is none, and where one
  /// beside the folder's own key tells of more.
  [[nodiscard]] bool is_in_place() const noexcept { return is_in_place_ && found_beside_.empty(); }
  /// Whether a witness of the account is there, under this key or under another one. If not, nobody has looked
  /// whether the folder is the newest copy.
  [[nodiscard]] bool is_known() const noexcept { return is_known_ || found_.has_value(); }
  /// Sets a warning for a folder with releases or a ledger for which no state names an account, and which no witness
  /// knows by its path.
  void doubt_files();
  /// True after find(), which is called once.
  [[nodiscard]] bool is_looked_for() const noexcept { return account_ != AccountId{}; }
  /// The witness's file: the one that was found, until keep(); empty before find(), and where no witness is kept.
  [[nodiscard]] const std::filesystem::path& file() const noexcept {
    return found_beside_.empty() ? file_ : found_beside_;
  }

  /// True where the folder holds all that the witness tells of, once the lines of the state `record` are in its
  /// ledger. True also where there is no witness, and for a state of a later epoch that lacks the witness's commit,
  /// if its ledger charges all that the witness tells of. `epoch` and `steps` are the state's.
  [[nodiscard]] bool is_held_by(Disk& disk, EpochId epoch, StepCount steps, const StateRecord& record) const;
  /// The epochs whose spend the witness knows and `ledger` lacks: a new epoch begins with them as owed. Empty where
  /// the folder's ledger holds the commit that the witness tells of. The last of the epochs is charged its limit,
  /// since it may have gone on after the witness was written. `is_older` says that the folder's state is known to be
  /// older than that commit, whatever the ledger holds.
  [[nodiscard]] std::vector<LedgerEntry> lost(Disk& disk, const Ledger& ledger, bool is_older = false) const;
  /// The commit that the witness tells of, in words, such as "epoch 0, step 1000".
  [[nodiscard]] std::string told() const;

  /// The account that the folder's states name from now on.
  [[nodiscard]] const AccountId& account() const noexcept { return account_; }
  /// One sentence that warns the operator; empty where all is well.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }

  /// Begins to keep the witness up to date with the commits that committed() tells of. Makes the place where it is
  /// missing. A witness of this account beside the folder's own key is kept up to date, too, where the settings name
  /// another place. Later settings may name no other place, and a file that had stayed behind would then make an
  /// older copy of the folder look like the newest one. Throws Failure(permission) where the place was asked for and
  /// cannot be written.
  void keep();
  /// Tells the witness that a commit is durable. `epochs` is as Witness::epochs. May be called from any thread.
  void committed(EpochId epoch, StepCount steps, const Hash& ledger_head, std::vector<LedgerEntry> epochs);
  /// Waits until the file tells of the last commit. Throws Failure(data) where another run writes the same witness. A
  /// file that could not be written becomes the warning.
  void finish();
  /// Throws and warns as finish() does, but does not wait: it tells of what has failed by now.
  void check();

 private:
  void require_place_outside() const;
  [[nodiscard]] bool is_this(const std::filesystem::path& file, const Witness& witness, bool has_account);
  void look_at(const std::filesystem::path& file, bool has_account);
  void look_only(const std::filesystem::path& place, bool has_account);
  void look_beside_own_key(bool has_account, const State* held);
  void judge_replaced();
  void cannot_be_listed(const std::error_code& why);
  void judge_own_file(const State* held);
  void judge_other_key(const std::filesystem::path& file, const Witness& claimed, const State* held) const;
  [[nodiscard]] std::string mark() const;
  [[nodiscard]] LedgerEntry charging(LedgerEntry entry, const LedgerEntry* known) const;
  [[nodiscard]] std::vector<LedgerEntry> not_charged_by(const Ledger& ledger) const;
  void add_restarted(const Ledger& ledger, std::vector<LedgerEntry>& lacking) const;
  [[nodiscard]] bool is_charged(Disk& disk, const StateRecord& record) const;
  [[nodiscard]] std::optional<bool> holds(Disk& disk, const Witness& witness, EpochId epoch, StepCount steps,
                                          const StateRecord& record) const;
  [[nodiscard]] bool is_a_branch(Disk& disk, const Witness& witness, const StateRecord& record) const;
  [[nodiscard]] bool make_place();
  void keep_beside_own_key();

  WitnessSettings settings_;
  secrets::Keyring keys_;
  AccountId account_{};
  std::filesystem::path file_;
  std::filesystem::path found_beside_;  // the file beside the folder's own key, where that tells of more
  bool is_in_place_ = false;
  std::string bytes_;   // the content of the file, as it was found
  std::string folder_;  // the state folder's path with links resolved; set by find()
  std::optional<Witness> found_;
  std::filesystem::path found_in_;  ///< the file of found_
  bool is_known_ = false;           // a witness of the state's account is there, under this key or another one
  // A witness of another account than the state's that names the folder's path, and its file.
  std::optional<std::pair<std::filesystem::path, Witness>> replaced_;
  std::string warning_;
  std::unique_ptr<WitnessKeeper> keeper_;
  std::unique_ptr<WitnessKeeper> beside_;  // of the file beside the folder's own key; null where there is none
};

}  // namespace nustream::journal
