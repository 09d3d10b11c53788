// The part that a run takes of an account which several streams share (privacy.account).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "journal/budget_account.h"
#include "journal/disk.h"
#include "journal/folder_witness.h"
#include "secrets/keyring.h"

namespace nustream::folder {

/// Refuses a folder that a witness knows as another stream's or lane's (journal/lost_account.h). A private run that
/// finds no state calls this before key_file_for(), which makes a key and a link to it.
void require_no_other_stream(const config::Config& config);

/// The path of the folder's key file. Without a state, a key file is made if nothing names one. Throws as
/// secrets::make_key_file() and secrets::key_file_of().
[[nodiscard]] std::string key_file_for(const config::Config& config, bool state_exists);

/// The folder's witness, which has not been looked for yet. Nothing for a run that is not private, because such a run
/// spends nothing that an older copy could hide.
[[nodiscard]] std::optional<journal::FolderWitness> witness_for(const config::Config& config,
                                                                const std::string& key_file,
                                                                const secrets::Keyring& keys);

/// Sentences that warn the operator about the key's place and the witness. `key_file` is empty for an insecure seed.
[[nodiscard]] std::vector<std::string> warnings_of(const config::Config& config, const std::string& key_file,
                                                   const std::optional<journal::FolderWitness>& witness);

/// Who takes a part, and of which account.
struct ShareOf {
  std::string account;  ///< the account's file; empty where there is no account
  std::filesystem::path folder;
  std::string stream;
  LaneId lane;
  privacy::Neighbours neighbours;
  bool is_private;
  std::string named_in;  ///< the file or option that names `account`, for messages
};
[[nodiscard]] ShareOf share_of(const config::Config& config, bool is_private);

/// One state folder's part of its account, as long as a run lasts.
///
/// Before the run spends anything, its folder is charged all that it may ever spend: its own budget, or, without a
/// budget, whatever the account has left. settle() gives back what was not spent. A run that is killed gives nothing
/// back; the next run over its folder does. While the object exists, it holds a lock of the folder, so there is one
/// run at a time. The journal's lock would not be enough, because a command of several parts releases it between two
/// parts.
class AccountShare {
 public:
  /// Charges the folder, and lowers `budget` to what the account allows it. That may be 0 for a folder that may have
  /// spent before. Does nothing without an account.
  ///
  /// Throws Failure(configuration) where the account does not exist or is about other neighbours, where the run is
  /// not private, where no account or another one is named although the folder was charged to one, and where the
  /// account knows nothing of a folder that was charged to it; Failure(locked) where another run has the folder's
  /// part; Failure(exhausted) where nothing is left for a new folder; Failure(data) where the account was changed.
  AccountShare(ShareOf whose, std::optional<Rho>& budget);
  /// A run that never began, or spent nothing, leaves the folder's charge as it was before the run.
  ~AccountShare();
  AccountShare(const AccountShare&) = delete;
  AccountShare& operator=(const AccountShare&) = delete;

  /// What the account allows this run, for messages: how much was left of which account. Empty where the run has a
  /// lower budget of its own, or there is no account.
  [[nodiscard]] const std::string& limit() const noexcept { return limit_; }

  /// To be called when the folder is open, before the run spends anything, and again after each part of a command.
  /// `spent` is the total of the folder's ledger. Where it exceeds the charge, it is charged, even beyond the
  /// account's budget. Throws Failure(data) where the account knows that more was spent: the folder is then an older
  /// copy, which lacks what was spent since.
  void begin(Rho spent);
  /// To be called after the run's last commit, at most once: charges `total`, what the folder has spent in all its
  /// epochs, in place of the reservation.
  void settle(Rho total);

 private:
  void require_named() const;
  [[nodiscard]] journal::AccountBook present_account() const;
  void take(std::optional<Rho>& budget);
  void charge(Rho rho, bool is_reserved);
  [[nodiscard]] bool has_spent_nothing() const;

  std::unique_ptr<journal::Disk> disk_;
  std::unique_ptr<journal::Lock> lock_;
  ShareOf whose_;  // whose_.account is cleared once the charge is settled
  journal::Member member_;
  std::optional<journal::Charge> before_;  // the folder's charge before the run
  Rho charged_{0};
  std::string limit_;
  std::optional<Rho> begun_;  // what was spent at the last begin()
};

}  // namespace nustream::folder
