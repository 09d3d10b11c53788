// The end to which a history of a folder has to come.
#pragma once

#include <optional>
#include <string>

#include "folder_case.h"
#include "simulated_disk.h"
#include "verdict.h"

namespace nustream::tests {

/// What the folder showed at the moment when an epoch was asked for that reads the folder's records again.
struct FirstEpoch {
  std::string releases;
  LaterEpoch next;  ///< the epoch that was asked for
};

/// The folder as it is, with the epoch that would continue from it. Empty where no epoch can read its records again
/// without a limit of its own: no step was taken, a budget is set, or the iterate has diverged.
[[nodiscard]] std::optional<FirstEpoch> first_epoch_of(const FolderCase& of, SimulatedDisk& disk);

/// Compares releases, state and ledger with the run that nothing disturbs: that of the folder's first epoch, or that
/// of the epoch behind `first`. Counts the steps, and of what kind the run was.
void check_folder_end(const FolderCase& of, SimulatedDisk& disk, const std::optional<FirstEpoch>& first,
                      Verdict& verdict, FaultCounts& happened);

}  // namespace nustream::tests
