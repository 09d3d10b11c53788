// Turns what a fit measured into values of the settings that were asked for.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "nustream/ranges/table_fit.h"

namespace nustream::measure {

/// For each feature, and then for the target, whether its centre and its scale are kept, and so not measured.
[[nodiscard]] std::vector<ranges::Kept> kept_of(const config::Config& asked);

/// A value for each of asked.measuring.keys, as --set takes it. They are functions of noisy results and public
/// figures alone. `fit` is over `records` records that were read under `asked`.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> values_of(const config::Config& asked,
                                                                         config::Purpose purpose,
                                                                         const ranges::TableFit& fit,
                                                                         std::uint64_t records);

}  // namespace nustream::measure
