// Measures the settings that are "private", over the whole input, in an epoch of one step before the run's own epoch.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"
#include "folder/account_share.h"
#include "folder/options.h"

namespace nustream::measure {

/// The settings and options that the run goes on with.
struct Settled {
  config::Config config;    ///< with numbers for all settings, and the ρ that is left for the run
  folder::Options options;  ///< after an epoch that measured they ask for a new epoch from the start
};

/// Takes the measured values from the state of the folder. Where there is no state, it measures them and commits them
/// with what they cost. Behind a measuring that found nothing, a new epoch (Start::new_epoch) measures anew, under
/// whatever settings: what both cost is in one ledger, and adds up. `asked` is from config::read_config_to_measure(),
/// with Config::measuring. `share` is charged before anything is spent.
///
/// A share of the ρ that is asked for, ranges.share, pays for a fit over the input (ranges/linear_fit.h,
/// ranges/likelihood_fit.h). Centres and scales are the placements of that fit, bounds are those of its pilot, and
/// the start is its answer. Step size and ν follow from its noisy second moments and from public counts. The run has
/// the rest of ρ. Both epochs are over the same records, and the ledger adds their costs. Where the unit is the user,
/// the measuring bounds what each user adds to any of its releases, and uses nothing of the user's limits up.
///
/// Each epoch has a key of its own. The values are shown after the commit that holds them, never before. A process
/// that is killed before that commit has shown and spent nothing, and its noise is gone. After a later kill, --resume
/// takes the values from the state, and draws nothing over the records again.
///
/// With options.min_usable the records are judged before they are measured, by all of them for a table and by the
/// first check::records_judged of a stream, and the run behind the measuring does not judge again.
///
/// Throws, before anything is spent, Failure(unusable) where fewer of them can be used, Failure(configuration) for
/// what cannot be measured (another loss, a pipe) and for too few records for that ρ, and Failure(exhausted) where
/// measuring alone would exceed privacy.budget. Throws Failure(data) for a state that holds no measured settings, or
/// those of another rule; and where hardly any record is usable. The latter is decided by a noisy share alone, and
/// the ranges' part of ρ is then spent and committed.
[[nodiscard]] Settled settle(const config::Config& asked, config::Purpose purpose, const folder::Options& options,
                             folder::AccountShare& share);

/// Prints what was measured, and at which ρ.
void show(const Settled& settled, const config::Config& asked);

/// The settings that are used, as TOML, with a warning that a run of this file spends again. `ledger` names the place
/// where the spend is recorded.
[[nodiscard]] std::string used_settings(const config::Config& settled, const config::Config& asked,
                                        const std::string& ledger);

/// How large the input is, 0 where that is not known, and how often it is read.
struct InputSize {
  std::uint64_t records = 0;
  std::uint64_t users = 0;
  std::uint64_t passes = 1;  ///< how often it is read
};

/// One JSON object that says what is measured, at which ρ, what is left for the run, what a person with several
/// records is promised, and whether the input is too small for that or a δ is large beside it.
[[nodiscard]] std::string plan_json(const config::Config& asked, const InputSize& size);
/// The same facts for people, in lines.
[[nodiscard]] std::string plan_text(const config::Config& asked, const InputSize& size);

}  // namespace nustream::measure
