// What the settings' own mechanism promises to a person with several records.
#pragma once

#include <vector>

#include "config/config.h"
#include "config/mechanism.h"
#include "publish/epsilons.h"

namespace nustream::engine {

/// The spend of a person with as many records as each of publish::group_sizes, at the end of the epoch. Where a step
/// takes one record, it is by the sensitivity to that many adjacent records; otherwise it is the spend of one record
/// times the square of their number. Empty where the unit is the user, whom the promise covers already.
[[nodiscard]] std::vector<publish::GroupSpend> group_spends(const config::Config& config,
                                                            const config::Mechanism& mechanism);

/// The same by the square of the number of records alone, where one record costs `rho` in all.
[[nodiscard]] std::vector<publish::GroupSpend> group_bounds(Rho rho, Delta delta);

}  // namespace nustream::engine
