// What one epoch of a lane spends, beside the lane's other epochs: its ledger lines, the total, and where it must
// stop.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/mechanism.h"
#include "journal/ledger_chain.h"
#include "nustream/base/units.h"
#include "secrets/keyring.h"

namespace nustream::engine {

/// Whose line it is, and over which records.
struct EpochIdentity {
  std::string stream;
  LaneId lane;
  EpochId epoch;
  Position start;  ///< of the epoch's first record
  journal::Overlap overlap;
  std::string digest;
  privacy::Neighbours neighbours;
  bool is_private;
  std::string settings{};                 ///< what `digest` is of
  std::optional<users::Limits> limits{};  ///< where the unit is the user
  bool carries_over = false;    ///< of users: the epoch began with the counts and masses of the one before it
  std::optional<Rho> budget{};  ///< of the total: nothing beyond it is reserved
  bool trusts_framing = false;  ///< LedgerEntry::trusts_framing
};

/// A commit, as its ledger line has to know it.
struct LedgerCommit {
  StepCount steps;                    ///< of the epoch, this batch's included
  Position to;                        ///< one past the furthest record that was touched
  std::optional<StepCount> before{};  ///< steps of the committed state before it; nothing: it is the epoch's first
  bool closes = false;                ///< the run ends with it
};

/// One epoch's side of the ledger. One thread.
class EpochLedger {
 public:
  /// `ledger` is the lane's, this epoch's earlier lines included. `mechanism` outlives it. Failures as
  /// total_spent().
  EpochLedger(EpochIdentity identity, const config::Mechanism& mechanism, journal::Ledger ledger);

  [[nodiscard]] const EpochIdentity& identity() const noexcept { return identity_; }
  /// Of an epoch whose own line was lost, or, where users came from other lanes, in the place of all earlier ones:
  /// goes in front of this epoch's next one, behind others that are owed. Failures as total_spent().
  void owe(const journal::LedgerEntry& entry);

  /// ρ of the worst record over all epochs and this one's neighbours, once this one has taken `steps` steps and
  /// touched records up to `to`.
  [[nodiscard]] Rho total(StepCount steps, Position to) const;
  /// The same, where this epoch's own ρ after `steps` steps is at hand. Asks no mechanism, whose cache is one
  /// thread's; of users a copy asks its own.
  [[nodiscard]] Rho total(Rho spent, StepCount steps, Position to) const;
  /// The number of steps that neither the correlation's horizon nor `budget` for the total lets it pass; empty for
  /// none. `to`: where the lane is.
  [[nodiscard]] std::optional<StepCount> limit(const std::optional<Rho>& budget, Position to) const;

  /// The lines that are due with a commit, with the head of the lane's releases up to there; the chain's head moves
  /// behind them. Mostly there is none: a line reserves the spend of a stretch of steps (reservation.h), and the next
  /// one comes with the first commit behind that; with the first that takes a step after the lane was opened, so that
  /// two runs from one state never go on under one line; and where a run closes, to say what was taken.
  [[nodiscard]] std::string append_lines(const LedgerCommit& commit, const secrets::Keyring& keys,
                                         const journal::Hash& released);
  /// True where the last line reserves steps behind these, so that a commit that closes would have a line.
  [[nodiscard]] bool reserves_beyond(StepCount steps) const noexcept { return told_ && *told_ > steps; }
  [[nodiscard]] const journal::Hash& head() const noexcept { return ledger_.head; }
  /// What this epoch spent after `steps` steps, as a line says it.
  [[nodiscard]] journal::LedgerEntry entry(StepCount steps, Position to) const;
  /// The other epochs' last lines, then this one's.
  [[nodiscard]] std::vector<journal::LedgerEntry> with_own(StepCount steps, Position to) const;

 private:
  [[nodiscard]] std::vector<journal::LedgerEntry> others() const;
  [[nodiscard]] journal::LedgerEntry line(Rho spent, Rho limit, StepCount steps, Position to) const;
  [[nodiscard]] Rho total_in_the_limit(Position to) const;
  [[nodiscard]] bool is_due(const LedgerCommit& commit) const;
  [[nodiscard]] bool grows_behind(StepCount steps) const;
  [[nodiscard]] journal::LedgerEntry due_line(const LedgerCommit& commit) const;

  /// Where the unit is the user: ρ of each count, or of k alone where there are too many for a line, and of all of W.
  struct UserSpends {
    UserSpends(const config::Mechanism& mechanism, const users::Limits& of_one);
    [[nodiscard]] journal::UserSpend after(std::optional<StepCount> steps, bool carries_over) const;

    users::Limits limits;
    std::vector<privacy::Spend> by_count{};
    std::optional<privacy::Spend> of_mass{};
  };

  EpochIdentity identity_;
  const config::Mechanism& mechanism_;
  journal::Ledger ledger_;
  std::vector<journal::LedgerEntry> owed_;
  std::optional<UserSpends> of_users_;
  std::optional<StepCount> told_{};  // what the epoch's last line pays for, as far as this object knows
  bool has_written_ = false;
};

}  // namespace nustream::engine
