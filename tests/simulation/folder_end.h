// What a history of a folder has to have come to.
#pragma once

#include <optional>
#include <string>

#include "folder_case.h"
#include "simulated_disk.h"
#include "verdict.h"

namespace nustream::tests {

/// What the folder showed when an epoch was asked for that reads its records again.
struct FirstEpoch {
  std::string releases;
  LaterEpoch next;  ///< the one that was asked for
};

/// The folder as it is, with the epoch that would go on from it. Nothing where there is none that reads its records
/// again without a limit of its own: no step was taken, a budget is set, or the iterate has diverged.
[[nodiscard]] std::optional<FirstEpoch> first_epoch_of(const FolderCase& of, SimulatedDisk& disk);

/// Holds releases, state and ledger against the run that nothing disturbs: of the folder's first epoch, or of the one
/// behind `first`. Counts steps, and what the run was.
void check_folder_end(const FolderCase& of, SimulatedDisk& disk, const std::optional<FirstEpoch>& first,
                      Verdict& verdict, FaultCounts& happened);

}  // namespace nustream::tests
