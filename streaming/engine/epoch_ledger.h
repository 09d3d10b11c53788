// What one epoch of a lane spends in addition to the lane's other epochs: its ledger lines, the total, and the step
// at which it has to stop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/mechanism.h"
#include "journal/ledger_chain.h"
#include "nustream/base/units.h"
#include "secrets/keyring.h"

namespace nustream::engine {

/// Which epoch a line is about, and over which records it spends.
struct EpochIdentity {
  std::string stream;
  LaneId lane;
  EpochId epoch;
  Position start;  ///< the position of the epoch's first record
  journal::Overlap overlap;
  std::string digest;
  privacy::Neighbours neighbours;
  bool is_private;
  std::string settings{};                 ///< the text that `digest` is the digest of
  std::optional<users::Limits> limits{};  ///< set where the unit is the user
  bool carries_over = false;    ///< the epoch began with its users' counts and masses of the epoch before it
  std::optional<Rho> budget{};  ///< for the total over all epochs: no steps beyond it are reserved
  bool trusts_framing = false;  ///< LedgerEntry::trusts_framing
};

/// What a ledger line has to know of the commit that writes it.
struct LedgerCommit {
  StepCount steps;                    ///< of the epoch, those of this batch included
  Position to;                        ///< one past the furthest record that was touched
  std::optional<StepCount> before{};  ///< steps of the committed state before; nothing at the epoch's first commit
  bool closes = false;                ///< the run ends with this commit
};

/// One epoch's side of the ledger. To be used from one thread.
class EpochLedger {
 public:
  /// `ledger` is the lane's, with this epoch's earlier lines. `mechanism` outlives it. Throws as total_spent().
  EpochLedger(EpochIdentity identity, const config::Mechanism& mechanism, journal::Ledger ledger);

  [[nodiscard]] const EpochIdentity& identity() const noexcept { return identity_; }
  /// Has `entry` written before this epoch's next line, after other entries that are owed. Either it is the line of
  /// an earlier epoch that was lost or has to be completed. Or users came from other lanes, and it is one line that
  /// replaces those of all earlier epochs. Throws as total_spent().
  void owe(const journal::LedgerEntry& entry);

  /// The total ρ over all epochs of the record (or user) that spent most, under this epoch's adjacency, once this
  /// epoch has taken `steps` steps and touched records up to `to`.
  [[nodiscard]] Rho total(StepCount steps, Position to) const;
  /// That total where the caller already knows `spent`, this epoch's own ρ after `steps` steps. It does not ask the
  /// mechanism, whose cache may be used by one thread alone. The spends of users belong to this object, and a copy
  /// has its own.
  [[nodiscard]] Rho total(Rho spent, StepCount steps, Position to) const;
  /// The largest number of steps that the correlation's horizon and the `budget` for the total allow; nothing where
  /// both allow any number. `to` is the lane's position now.
  [[nodiscard]] std::optional<StepCount> limit(const std::optional<Rho>& budget, Position to) const;

  /// The lines that are due with a commit; mostly there are none. A line reserves the spend of the next steps
  /// (reserved_steps()). Another line is due in three cases: with the first commit beyond the reserved steps; with
  /// the first commit that takes a step after the lane was opened, because two runs from one state must not go on
  /// under one line; and where a run closes, to say which steps were taken. `released` is the head of the chain of
  /// the lane's releases before this commit, which are durable; a commit that closes has no release by cadence of its
  /// own. The head of the ledger's chain moves on to the last of the lines.
  [[nodiscard]] std::string append_lines(const LedgerCommit& commit, const secrets::Keyring& keys,
                                         const journal::Hash& released);
  /// True where the last line reserves more than `steps` steps, so that a commit that closes would write a line.
  [[nodiscard]] bool reserves_beyond(StepCount steps) const noexcept { return told_ && *told_ > steps; }
  [[nodiscard]] const journal::Hash& head() const noexcept { return ledger_.head; }
  /// The line that says what this epoch has spent after `steps` steps.
  [[nodiscard]] journal::LedgerEntry entry(StepCount steps, Position to) const;
  /// The last lines of the other epochs, then this epoch's line after `steps` steps.
  [[nodiscard]] std::vector<journal::LedgerEntry> with_own(StepCount steps, Position to) const;

 private:
  [[nodiscard]] std::vector<journal::LedgerEntry> others() const;
  [[nodiscard]] journal::LedgerEntry line(Rho spent, Rho limit, StepCount steps, Position to) const;
  [[nodiscard]] Rho total_in_the_limit(Position to) const;
  [[nodiscard]] bool is_due(const LedgerCommit& commit) const;
  [[nodiscard]] bool grows_behind(StepCount steps) const;
  [[nodiscard]] journal::LedgerEntry due_line(const LedgerCommit& commit) const;

  /// Where the unit is the user: the spend of each count of records (or of k alone, where a line has no room for all
  /// counts), and of the whole mass W.
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
  std::optional<StepCount> told_{};  // the steps at which another line is due; nothing where no line is known
  bool has_written_ = false;         // a line of this epoch was written since the lane was opened
};

/// The most steps that a line reserves ahead. A stream that takes a step a second takes this number in less than a
/// day.
inline constexpr std::uint64_t reserved_ahead_max = 65'536;

/// How many steps a line pays for that is written with a commit after `taken` steps. For example, after 5 steps it
/// pays for 8. It pays up to the next power of two above `taken`, at most reserved_ahead_max ahead, and for 0 after 0
/// steps. Where further steps cost nothing more (`grows` is false), it pays for all steps up to `furthest`, or,
/// without `furthest`, up to the next power of two. It never pays for steps beyond `furthest`, where budget or
/// horizon end the epoch, nor for fewer than `taken`.
///
/// It is a function of step counts and settings alone, so what the ledger says depends on no record.
[[nodiscard]] StepCount reserved_steps(StepCount taken, std::optional<StepCount> furthest, bool grows);

/// A random name for a run, 32 hexadecimal digits (LedgerEntry::run).
[[nodiscard]] std::string new_run();

}  // namespace nustream::engine
