// The end to which an attached history has to come.
#pragma once

#include "attached_case.h"
#include "simulated_broker.h"
#include "verdict.h"

namespace nustream::tests {

/// Compares each lane's releases, state, offset, ledger and dead letters with those of a run that nothing disturbs.
void check_attached_end(const AttachedCase& of, SimulatedBroker& broker, Verdict& verdict);

}  // namespace nustream::tests
