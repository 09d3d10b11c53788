// Epochs of one step over a whole file, for fits and for measured ranges. Each is one commit of its spend and what it
// found.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/epoch_decision.h"
#include "error.h"
#include "journal/disk.h"
#include "journal/file_journal.h"
#include "journal/folder_witness.h"
#include "journal/ledger_chain.h"
#include "secrets/keyring.h"

namespace nustream::folder {

/// What such an epoch commits.
struct OneStep {
  Rho rho;
  std::uint64_t records;
  privacy::Neighbours neighbours;
  std::string digest;           ///< the digest of what was asked, and how
  std::string release;          ///< the line of its release; empty where there is none, or it ended before its answer
  std::string ranges{};         ///< StateRecord::ranges
  bool trusts_framing = false;  ///< journal::LedgerEntry::trusts_framing
  std::optional<journal::UserSpend> user{};  ///< set where the neighbours differ in a user
};

/// Where the folder is, and how its keys and its witness are found.
struct AccountPlace {
  std::string folder;
  std::string stream;
  LaneId lane;
  bool is_private = true;
  /// Returns the keys and the path of their file, which is empty under an insecure seed. Makes a file where there is
  /// no state.
  std::function<std::pair<secrets::Keyring, std::string>(bool state_exists)> keys;
  std::function<std::optional<journal::FolderWitness>(const std::string& key_file, const secrets::Keyring& keys)>
      witness;
  /// What a person can do beside restoring the folder, where none of these epochs may begin in it, as the end of a
  /// sentence: "name another one with --state, for other records". Asked only for a refusal.
  std::function<std::string()> way_on;
};

/// The ledger of a folder that holds only such epochs, or nothing yet.
///
/// Every fit is one noise epoch of one step, over all positions of the file. The spends of all fits add up, whatever
/// the file held, since nobody knows which records two versions of it have in common.
///
/// commit() writes state, ledger line and release in one step (docs/formats/releases-folder.md). The noise key of a
/// fit is in memory alone, and in no state. So a fit that is killed before its commit has shown and spent nothing,
/// and its noise is gone. A fit that is killed after its commit is in the ledger, and the next run that opens the
/// folder publishes its release.
class OneStepAccount {
 public:
  /// Opens the folder, or begins one. Throws Failure(data) where the folder was changed, or where its witness tells
  /// that it was rolled back or emptied; Failure(locked) where another fit runs; Failure(permission) where the key
  /// cannot be read.
  explicit OneStepAccount(const AccountPlace& place);

  /// The epoch of this fit.
  [[nodiscard]] EpochId epoch() const noexcept { return epoch_; }
  [[nodiscard]] const secrets::Keyring& keys() const noexcept { return *keys_; }
  /// ρ of all fits before this one, over `neighbours`; and, with(), the same together with another fit that costs
  /// `rho`.
  [[nodiscard]] Rho spent(privacy::Neighbours neighbours) const;
  [[nodiscard]] Rho with(Rho rho, privacy::Neighbours neighbours) const;
  /// Throws Failure(configuration) where an epoch before this one had another framing, or other windows for its users
  /// (`limits`; null where the unit is the record): what they spent does not add up with what this one would spend,
  /// so that neither would be able to go on.
  void require_summable(bool framing_is_trusted, const users::Limits* limits) const;
  /// How many fits there were before this one.
  [[nodiscard]] std::size_t fits() const noexcept { return ledger_.epochs.size(); }

  /// Commits this fit, and returns when all of it is durable. To be called once.
  void commit(const OneStep& spent);

  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  /// The path of the key file; empty under an insecure seed.
  [[nodiscard]] const std::string& key_file() const noexcept { return key_file_; }
  /// One sentence that warns the operator about the witness; empty where all is well.
  [[nodiscard]] std::string warning() const { return witness_ ? witness_->warning() : std::string(); }

 private:
  /// The epoch that begins, by what is found so far (engine/epoch_decision.h). Throws Failure(data) where none may.
  [[nodiscard]] engine::Begin decided(const engine::Found& found) const;
  void look_at_state(const std::string& sealed, engine::Found& found);
  [[noreturn]] void refuse(engine::Refusal reason, const engine::Found& found) const;
  [[nodiscard]] Failure is_emptied() const;
  [[nodiscard]] Failure refusal(const std::string& found) const;
  [[nodiscard]] journal::LedgerEntry entry(const OneStep& spent) const;

  std::string folder_;
  std::string stream_;
  LaneId lane_;
  std::function<std::string()> way_on_;
  std::unique_ptr<journal::Disk> disk_;
  std::string key_file_;
  std::optional<secrets::Keyring> keys_;
  std::optional<journal::FolderWitness> witness_;
  std::optional<journal::FileJournal> journal_;
  journal::Ledger ledger_;
  EpochId epoch_{0};
  journal::Overlap overlap_ = journal::Overlap::disjoint;
};

}  // namespace nustream::folder
