// The user whom an audit plays: a user who does all that the limits allow, where it shows most.
#pragma once

#include "audit/audit.h"
#include "audit/canary.h"
#include "config/mechanism.h"

namespace nustream::audit {

/// The game that is played, and the claim about it: the total of the ledger's lines over all epochs of the game and
/// over all its windows of time.
struct WorstUser {
  GameShape shape;
  Rho claimed;
};

/// Finds the user who shows most. In each epoch and window the user takes part as often as the limits allow, with a
/// contribution as long as a step's bound each time. A mass below that bound is used up at once, and what is left of
/// a mass after its last whole contribution stays unused.
///
/// Where counts carry over, the contributions of one set of limits are divided between the epochs in every possible
/// way. With several windows, each pattern is also tried with every other window used late, so that its steps lie
/// next to those of the window after it. The pattern that the filters over B see best is taken. Contract:
/// config.descent.users is there, and options.epochs · options.windows divides options.steps.
[[nodiscard]] WorstUser worst_user(const config::Config& config, const config::Mechanism& mechanism,
                                   const Options& options);

}  // namespace nustream::audit
