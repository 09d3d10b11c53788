// Advice about a budget that ends a run early. It follows from the settings and the ledger alone, never from data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"
#include "config/mechanism.h"
#include "nustream/base/units.h"

namespace nustream::engine {

/// The name of the budget that ends an epoch, unless it is that of an account that several streams share.
inline constexpr std::string_view own_budget = "privacy.budget";

/// Returns one sentence where a budget ends an epoch after `limit` steps (EpochLedger::limit()), before the horizon
/// of its noise. What is spent by then is not given back; a lower rho would have bought more for the same spend.
/// Empty where the budget does not end the epoch. `of` names the budget.
[[nodiscard]] std::string short_of_budget(const config::Mechanism& mechanism, std::optional<StepCount> limit,
                                          std::string_view of = own_budget);

/// Returns that sentence for a first run, whose ledger is empty, or for `runs` runs over the same records. Empty
/// where there is no budget.
[[nodiscard]] std::string short_of_budget(const config::Config& config, const config::Mechanism& mechanism,
                                          std::uint64_t runs = 1);

/// Returns that sentence for a table before its number of records is known: its steps together cost privacy.rho, so
/// that a smaller budget does not pay for all of them.
[[nodiscard]] std::string short_of_table(const config::Config& config);

/// Returns one sentence where running sums over plan.records records spend only a part of ρ, because their noise is
/// made for a stream without an end. Empty where the sums have an end or a memory, or the number of records is not
/// given.
[[nodiscard]] std::string part_of_budget(const config::Config& config, const config::Mechanism& mechanism);

/// Returns one sentence where `total`, the total of the ledger with all `runs` over the same records, is above the
/// budget; empty otherwise.
[[nodiscard]] std::string short_of_runs(Rho budget, Rho total, std::uint64_t runs, std::string_view of = own_budget);

}  // namespace nustream::engine
