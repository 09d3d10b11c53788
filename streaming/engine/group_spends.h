// What a person with several records is promised, of the settings' own mechanism.
#pragma once

#include <vector>

#include "config/config.h"
#include "config/mechanism.h"
#include "publish/epsilons.h"

namespace nustream::engine {

/// For each of publish::group_sizes, in the limit of the epoch: of steps that take one record each by the sensitivity
/// of as many adjacent ones, else by the square of their number. Nothing where the unit is the user.
[[nodiscard]] std::vector<publish::GroupSpend> group_spends(const config::Config& config,
                                                            const config::Mechanism& mechanism);

/// For each of publish::group_sizes by the square of their number, where one record costs `rho` in all.
[[nodiscard]] std::vector<publish::GroupSpend> group_bounds(Rho rho, Delta delta);

}  // namespace nustream::engine
