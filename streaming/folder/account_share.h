// What a run takes of an account that several streams share (privacy.account).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "config/config.h"
#include "journal/budget_account.h"
#include "journal/disk.h"

namespace nustream::folder {

/// Whose part it is.
struct ShareOf {
  std::string account;  ///< file; empty: none
  std::filesystem::path folder;
  std::string stream;
  LaneId lane;
  privacy::Neighbours neighbours;
  bool is_private;
  std::string named_in;  ///< where `account` is said, for messages
};
[[nodiscard]] ShareOf share_of(const config::Config& config, bool is_private);

/// One state folder's part of its account, for the length of a run.
///
/// Before the run spends anything its folder is charged all that it may ever spend: its own budget, or, without one,
/// whatever the account has left. settle() gives back what was not spent. A run that is killed gives nothing back:
/// the next one over its folder does. One run at a time: until the object ends it holds a lock of the folder beside
/// the journal's, which is let go between a command's parts.
class AccountShare {
 public:
  /// Charges the folder, and lowers `budget` to what the account allows it; to 0 where nothing is left, and the
  /// folder may have spent before. Nothing without an account. Failure(configuration) where the account is about
  /// other neighbours, does not exist, or the run is not private; or where none is named and the folder was charged
  /// to one; Failure(locked) where another run has the folder's part; Failure(exhausted) where nothing is left of it;
  /// Failure(data) where it was changed.
  AccountShare(ShareOf whose, std::optional<Rho>& budget);
  /// Where the run never began, what was charged before it is charged again.
  ~AccountShare();
  AccountShare(const AccountShare&) = delete;
  AccountShare& operator=(const AccountShare&) = delete;

  /// With the folder open, before anything of the run is spent; again after a part of it. `spent` is what its ledger
  /// comes to: where that is more than was charged, it is charged, whatever the account's budget.
  /// Failure(data) where the account knows of more: an older copy of the folder lacks what was spent since.
  void begin(Rho spent);
  /// After the run's last commit: charged is what the folder spent in all of its epochs. At most once.
  void settle(Rho total);

 private:
  void require_named() const;
  void take(std::optional<Rho>& budget);
  void charge(Rho rho, bool is_reserved);
  [[nodiscard]] bool has_spent_nothing() const;

  std::unique_ptr<journal::Disk> disk_;
  std::unique_ptr<journal::Lock> lock_;
  ShareOf whose_;  // no account once it is settled
  journal::Member member_;
  std::optional<journal::Charge> before_;  // the run
  Rho charged_{0};
  std::optional<Rho> begun_;  // what was spent by then
};

}  // namespace nustream::folder
