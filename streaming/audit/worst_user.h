// The user that an audit plays: one that does all that its limits allow, where it shows most.
#pragma once

#include "audit/audit.h"
#include "audit/shape.h"
#include "config/mechanism.h"

namespace nustream::audit {

/// What is played, and what is claimed about it: the total of the ledger's lines over all epochs of the game, over
/// its windows of time.
struct WorstUser {
  GameShape shape;
  Rho claimed;
};

/// In each epoch and window as often as the user's limits let it, each time as long as a step's bound, and of a mass
/// below that all of it at once; what is left of a mass behind its last whole contribution stays. Where counts carry
/// over, one set of limits is spread over the epochs; of two windows that follow each other the first is used late,
/// so that its steps lie next to those of the second. Of the patterns that remain, the one that the filters over B
/// see best. Contract: config.descent.users is there, and options.epochs · options.windows divide options.steps.
[[nodiscard]] WorstUser worst_user(const config::Config& config, const config::Mechanism& mechanism,
                                   const Options& options);

}  // namespace nustream::audit
