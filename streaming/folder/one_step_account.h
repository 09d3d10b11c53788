// Epochs of one step over a whole file, each one commit of its spend and what it found: of fits, and of measured
// ranges.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  std::string digest;           ///< of the rule
  std::string release;          ///< its line; empty where there is none, or it stopped before its answer
  std::string ranges{};         ///< StateRecord::ranges
  bool trusts_framing = false;  ///< journal::LedgerEntry::trusts_framing
};

/// Where the account is, and how its keys are found.
struct AccountPlace {
  std::string folder;
  std::string stream;
  LaneId lane;
  bool is_private = true;
  /// The keys and the path of their file, empty under an insecure seed; makes a file where there is no state.
  std::function<std::pair<secrets::Keyring, std::string>(bool state_exists)> keys;
  std::function<std::optional<journal::FolderWitness>(const std::string& key_file, const secrets::Keyring& keys)>
      witness;
};

/// The ledger of a folder that holds nothing but such epochs, or nothing yet.
///
/// Every fit is one noise epoch of one step, over all positions of the file: the spends of all add up, whatever the
/// file held, since nobody knows which records two versions of it share.
///
/// commit() writes state, ledger line and release in one step (docs/formats/releases-folder.md). The noise key of a
/// fit is in memory alone and in no state: a fit that is killed before its commit has shown nothing, has spent
/// nothing, and its noise is gone; one that is killed behind it is in the ledger, and its release is published by
/// whoever opens the folder next.
class OneStepAccount {
 public:
  /// Opens the folder, or begins one. Failure(data) where it was changed, rolled back (the witness tells) or lost;
  /// Failure(locked) where another fit runs; Failure(permission) for keys.
  explicit OneStepAccount(const AccountPlace& place);

  /// This fit's.
  [[nodiscard]] EpochId epoch() const noexcept { return epoch_; }
  [[nodiscard]] const secrets::Keyring& keys() const noexcept { return *keys_; }
  /// ρ of all fits before this one, and with one of `rho`; over `neighbours`.
  [[nodiscard]] Rho spent(privacy::Neighbours neighbours) const;
  [[nodiscard]] Rho with(Rho rho, privacy::Neighbours neighbours) const;
  /// How many there were before this one.
  [[nodiscard]] std::size_t fits() const noexcept { return ledger_.epochs.size(); }

  /// Returns when all of it is durable. Once.
  void commit(const OneStep& spent);

  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  /// Empty under an insecure seed.
  [[nodiscard]] const std::string& key_file() const noexcept { return key_file_; }
  /// One sentence for the operator; empty where all is well.
  [[nodiscard]] std::string warning() const { return witness_ ? witness_->warning() : std::string(); }

 private:
  void go_on(const std::string& sealed);
  void begin();
  [[nodiscard]] journal::LedgerEntry entry(const OneStep& spent) const;

  std::string folder_;
  std::string stream_;
  LaneId lane_;
  std::unique_ptr<journal::Disk> disk_;
  std::string key_file_;
  std::optional<secrets::Keyring> keys_;
  std::optional<journal::FolderWitness> witness_;
  std::optional<journal::FileJournal> journal_;
  journal::Ledger ledger_;
  EpochId epoch_{0};
};

}  // namespace nustream::folder
