// What a history of a folder has to have come to.
#pragma once

#include "folder_case.h"
#include "simulated_disk.h"
#include "verdict.h"

namespace nustream::tests {

/// Holds releases, state and ledger against the run that nothing disturbs. Counts steps, and what the run was.
void check_folder_end(const FolderCase& of, SimulatedDisk& disk, Verdict& verdict, FaultCounts& happened);

}  // namespace nustream::tests
