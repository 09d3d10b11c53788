// What an attached history has to have come to.
#pragma once

#include "attached_case.h"
#include "simulated_broker.h"
#include "verdict.h"

namespace nustream::tests {

/// Holds each lane's releases, state, offset, ledger and dead letters against the run that nothing disturbs.
void check_attached_end(const AttachedCase& of, SimulatedBroker& broker, Verdict& verdict);

}  // namespace nustream::tests
