// The ledger of the fits over one file, in a folder of its own that outlives them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fit/fit.h"
#include "journal/disk.h"
#include "journal/file_journal.h"
#include "journal/folder_witness.h"
#include "journal/ledger_chain.h"
#include "secrets/keyring.h"

namespace nustream::fit {

/// What a fit commits.
struct Spent {
  Rho rho;
  std::uint64_t records;
  privacy::Neighbours neighbours;
  std::string digest;   ///< of the rule
  std::string release;  ///< its line; empty where the fit stopped before its answer
};

/// Every fit is one noise epoch of one step, over all positions of the file: the spends of all add up, whatever the
/// file held, since nobody knows which records two versions of it share.
///
/// commit() writes state, ledger line and release in one step (docs/formats/releases-folder.md). The noise key of a
/// fit is in memory alone and in no state: a fit that is killed before its commit has shown nothing, has spent
/// nothing, and its noise is gone; one that is killed behind it is in the ledger, and its release is published by
/// whoever opens the folder next.
class Account {
 public:
  /// Opens the folder, or begins one. Failure(data) where it was changed, rolled back (the witness tells) or lost;
  /// Failure(locked) where another fit runs; Failure(permission) for keys.
  explicit Account(const Options& options);

  /// This fit's.
  [[nodiscard]] EpochId epoch() const noexcept { return epoch_; }
  [[nodiscard]] const secrets::Keyring& keys() const noexcept { return *keys_; }
  /// ρ of all fits before this one, and with one of `rho`; over `neighbours`.
  [[nodiscard]] Rho spent(privacy::Neighbours neighbours) const;
  [[nodiscard]] Rho with(Rho rho, privacy::Neighbours neighbours) const;
  /// How many there were before this one.
  [[nodiscard]] std::size_t fits() const noexcept { return ledger_.epochs.size(); }

  /// Returns when all of it is durable. Once.
  void commit(const Spent& spent);

  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  /// Empty under an insecure seed.
  [[nodiscard]] const std::string& key_file() const noexcept { return key_file_; }
  /// One sentence for the operator; empty where all is well.
  [[nodiscard]] std::string warning() const { return witness_ ? witness_->warning() : std::string(); }

 private:
  void open_keys(const Options& options, bool state_exists);
  void go_on(const std::string& sealed);
  void begin();
  [[nodiscard]] journal::LedgerEntry entry(const Spent& spent) const;

  std::string folder_;
  std::unique_ptr<journal::Disk> disk_;
  std::string key_file_;
  std::optional<secrets::Keyring> keys_;
  std::optional<journal::FolderWitness> witness_;
  std::optional<journal::FileJournal> journal_;
  journal::Ledger ledger_;
  EpochId epoch_{0};
};

}  // namespace nustream::fit
