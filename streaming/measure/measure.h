// Settings that say "private": measured over the whole file, in an epoch of one step that comes before the run's own.
#pragma once

#include <string>

#include "config/config.h"
#include "folder/account_share.h"
#include "folder/options.h"

namespace nustream::measure {

/// What a run goes on with.
struct Settled {
  config::Config config;    ///< with numbers for all settings, and the ρ that is left for the run
  folder::Options options;  ///< with the start that follows: behind an epoch that measured, a new one from the start
};

/// Takes the measured values from the state of the folder, or, where there is no state, measures them and commits
/// them with what they cost. `asked`: config::read_config_to_measure(), with Config::measuring.
///
/// A share of the ρ that is asked for, ranges.share, pays for a fit over the input (ranges/linear_fit.h,
/// ranges/likelihood_fit.h): centres and scales are its placements, bounds its pilot's, the start its answer; step
/// size and ν follow from its noisy second moments and from public counts. The run is left the rest. Both epochs are
/// over the same records, and the ledger adds them.
///
/// Each epoch has a key of its own. The values are shown behind the commit that holds them, never before; a process
/// that is killed before it has shown nothing and spent nothing, and its noise is gone; one that is killed behind it
/// goes on with --resume, which takes the values from the state and draws nothing over the records again.
///
/// Failure(configuration) for what cannot be measured (another loss, users, a pipe) and for too few records for that
/// ρ; Failure(exhausted) where it alone crosses privacy.budget; nothing is spent then. Failure(data) where hardly
/// anything is usable, by the noisy share alone, when only the ranges' share is spent and committed; and for a state
/// that holds no ranges, or those of another rule. `share` begins before anything is spent.
[[nodiscard]] Settled settle(const config::Config& asked, config::Purpose purpose, const folder::Options& options,
                             folder::AccountShare& share);

/// Prints what was measured, and for how much.
void show(const Settled& settled, const config::Config& asked);

/// TOML of the settings that are used, with a warning that a run of it spends again. `ledger`: where the spend is.
[[nodiscard]] std::string used_settings(const config::Config& settled, const config::Config& asked,
                                        const std::string& ledger);

}  // namespace nustream::measure
