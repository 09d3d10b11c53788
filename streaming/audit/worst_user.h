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
/// way. With several windows, each begins right behind the last contribution of the one before, so that the two steps
/// at a border are neighbours; the windows before the last are tried with 1, 2, … k contributions. Of two windows
/// that tries all that can be worst (privacy::sensitivity_over_windows()). The pattern that the filters over B see
/// best is taken. The claim about several windows is users::over_windows(). Contract: config.descent.users is there,
/// has windows where options.windows is above 1, and options.epochs · options.windows divides options.steps.
[[nodiscard]] WorstUser worst_user(const config::Config& config, const config::Mechanism& mechanism,
                                   const Options& options);

}  // namespace nustream::audit
