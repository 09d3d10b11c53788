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
  bool carries_over = false;  ///< of users: the epoch began with the counts and masses of the one before it
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

  /// The lines after `steps` steps, with the head of the lane's releases up to there; the chain's head moves behind
  /// them.
  [[nodiscard]] std::string append_lines(StepCount steps, Position to, const secrets::Keyring& keys,
                                         const journal::Hash& released);
  [[nodiscard]] const journal::Hash& head() const noexcept { return ledger_.head; }
  /// What this epoch's line says after `steps` steps.
  [[nodiscard]] journal::LedgerEntry entry(StepCount steps, Position to) const;
  /// The other epochs' last lines, then this one's.
  [[nodiscard]] std::vector<journal::LedgerEntry> with_own(StepCount steps, Position to) const;

 private:
  [[nodiscard]] std::vector<journal::LedgerEntry> others() const;
  [[nodiscard]] journal::LedgerEntry line(Rho spent, Rho limit, StepCount steps, Position to) const;
  [[nodiscard]] Rho total_in_the_limit(Position to) const;

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
};

}  // namespace nustream::engine
