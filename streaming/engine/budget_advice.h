// What a budget leaves of a run, from settings and the ledger alone: nothing of it depends on data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/config.h"
#include "config/mechanism.h"
#include "nustream/base/units.h"

namespace nustream::engine {

/// One sentence where `privacy.budget` ends an epoch after `limit` steps (EpochLedger::limit()), before its noise's
/// own horizon or for ever: what is spent by then is not given back. Empty where it does not.
[[nodiscard]] std::string short_of_budget(const config::Mechanism& mechanism, std::optional<StepCount> limit);

/// The same of a first run, whose ledger is empty, or of several over the same records; empty where there is no
/// budget.
[[nodiscard]] std::string short_of_budget(const config::Config& config, const config::Mechanism& mechanism,
                                          std::uint64_t runs = 1);

/// One sentence where the ledger's total after `runs` more runs over the same records is above the budget.
[[nodiscard]] std::string short_of_runs(Rho budget, Rho total, std::uint64_t runs);

}  // namespace nustream::engine
