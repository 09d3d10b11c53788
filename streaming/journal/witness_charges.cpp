// Compares a state folder with what its witness tells (docs/formats/witness.md): whether the folder holds the commit,
// and what a new epoch is charged for where it does not.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "error.h"
#include "journal/folder_witness.h"
#include "secrets/hex.h"

namespace nustream::journal {

/// Whether the folder's state and ledger hold the commit that a witness tells of; nothing where the ledger lacks its
/// line. Where folder and witness know the same last line, the number of steps tells which of their commits is later,
/// since several commits may stand between two lines.
std::optional<bool> FolderWitness::holds(Disk& disk, const Witness& witness, EpochId epoch, StepCount steps,
                                         const StateRecord& record) const {
  if (witness.ledger_head == record.ledger_head) return epoch != witness.epoch || steps >= witness.steps;
  if (ledger_holds(disk, settings_.folder, witness.ledger_head)) return !is_a_branch(disk, witness, record);
  return std::nullopt;
}

// Where the ledger lacks the witness's line, a later epoch has to charge for what it lacks.
bool FolderWitness::is_held_by(Disk& disk, EpochId epoch, StepCount steps, const StateRecord& record) const {
  if (!found_ || found_->ledger_head == empty_ledger_head) return true;
  if (const std::optional<bool> is_held = holds(disk, *found_, epoch, steps, record)) return *is_held;
  return epoch > found_->epoch && is_charged(disk, record);
}

/// Whether the ledger goes on behind the witness's line from an earlier commit than the witness's. If so, a copy of
/// the folder went on. The first line of a run says at which step it went on (`taken`).
bool FolderWitness::is_a_branch(Disk& disk, const Witness& witness, const StateRecord& record) const {
  const auto next = entry_behind(disk, settings_.folder, witness.ledger_head, record.ledger_entry);
  if (!next || next->epoch != witness.epoch) return false;
  return next->taken.value_or(next->steps) < witness.steps;
}

/// Whether the ledger charges all that the witness tells of. It does if a new epoch was begun behind the witness, and
/// its run ended before the witness was told of a commit.
bool FolderWitness::is_charged(Disk& disk, const StateRecord& record) const try {
  return not_charged_by(read_committed_ledger(disk, settings_.folder, keys_, record)).empty();
} catch (const Failure&) {
  return false;  // recovering the folder tells what is wrong with the ledger
}

/// Marks the lines that charge what this witness alone knew. Without the mark such a line could not be told from one
/// that a copy wrote about an epoch of its own.
std::string FolderWitness::mark() const {
  return secrets::to_hex(found_->ledger_head).substr(0, 32);
}

/// A line that charges what the witness tells of an epoch, beside what the folder's own line `known` charges; null
/// where there is none. The witness's last epoch may have gone on after the witness was written, to its limit at
/// most.
LedgerEntry FolderWitness::charging(LedgerEntry entry, const LedgerEntry* known) const {
  if (entry.epoch == found_->epoch) charge_limit(entry);
  if (known != nullptr) {
    charge_beside(entry, *known);
    entry.settings_digest = known->settings_digest;  // that of the releases in this folder
  }
  entry.overlap = Overlap::unknown;
  entry.taken.reset();
  entry.run = mark();
  return entry;
}

/// Lines that charge for the epochs whose spend the witness knows and `ledger` lacks.
std::vector<LedgerEntry> FolderWitness::not_charged_by(const Ledger& ledger) const {
  std::vector<LedgerEntry> lacking;
  for (const LedgerEntry& entry : found_->epochs) {
    const auto known = std::ranges::find_if(
        ledger.epochs, [&](const LedgerEntry& line) { return line.lane == entry.lane && line.epoch == entry.epoch; });
    const LedgerEntry* const own = known == ledger.epochs.end() ? nullptr : &*known;
    const bool is_whole = own != nullptr && entry.epoch != found_->epoch &&
                          own->settings_digest == entry.settings_digest && own->steps >= entry.steps;
    if (is_whole || (own != nullptr && own->run == mark())) continue;
    lacking.push_back(charging(entry, own));
  }
  add_restarted(ledger, lacking);
  return lacking;
}

/// Adds to `lacking` the folder's own epochs of users that went on with the counts of an epoch in it. Those counts
/// know nothing of what the witness tells, so that a user may have used all of its limits in both: such an epoch
/// begins anew from now on, and its charge adds to what came before.
void FolderWitness::add_restarted(const Ledger& ledger, std::vector<LedgerEntry>& lacking) const {
  const auto is_lacking = [&](const LedgerEntry& line) {
    return std::ranges::any_of(
        lacking, [&](const LedgerEntry& one) { return one.lane == line.lane && one.epoch == line.epoch; });
  };
  std::vector<LedgerEntry> restarted;
  for (std::size_t i = 1; i < ledger.epochs.size(); ++i) {
    const LedgerEntry& own = ledger.epochs[i];
    if (!own.user || !own.user->carries_over || is_lacking(own) || !is_lacking(ledger.epochs[i - 1])) continue;
    // The state that settled the ledger may be older than the steps that its last line reserved.
    const bool reserves = ledger.reserving && ledger.reserving->epoch == own.epoch;
    LedgerEntry& line = restarted.emplace_back(reserves ? *ledger.reserving : own);
    line.user->carries_over = false;
    line.taken.reset();
    line.run = mark();
  }
  lacking.insert(lacking.end(), restarted.begin(), restarted.end());
}

std::vector<LedgerEntry> FolderWitness::lost(Disk& disk, const Ledger& ledger, bool is_older) const {
  if (!found_ || found_->ledger_head == empty_ledger_head) return {};
  // An older state may lie beside a newer ledger. Then the head alone would say that nothing is lost.
  if (is_older) return not_charged_by(ledger);
  if (found_->ledger_head == ledger.head) return {};
  if (ledger_holds(disk, settings_.folder, found_->ledger_head)) return {};
  return not_charged_by(ledger);
}

std::string FolderWitness::told() const {
  return "epoch " + std::to_string(found_->epoch.value()) + ", step " + std::to_string(found_->steps.value());
}

}  // namespace nustream::journal
