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
/// the next one over its folder does.
class AccountShare {
 public:
  /// Charges the folder, and lowers `budget` to what the account allows it. Nothing without an account.
  /// Failure(configuration) where the account is about other neighbours, does not exist, or the run is not private;
  /// Failure(exhausted) where nothing is left of it; Failure(data) where it was changed.
  AccountShare(ShareOf whose, std::optional<Rho>& budget);
  /// Where the run never began, so that there is no state, nothing stays charged.
  ~AccountShare();
  AccountShare(const AccountShare&) = delete;
  AccountShare& operator=(const AccountShare&) = delete;

  /// After the run's last commit: charged is what the folder spent in all of its epochs. At most once.
  void settle(Rho total);

 private:
  std::unique_ptr<journal::Disk> disk_;
  ShareOf whose_;  // no account once it is settled
  journal::Member member_;
  bool is_new_ = false;
};

}  // namespace nustream::folder
