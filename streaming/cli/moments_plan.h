// What `nustream plan` says of running sums: how much noise they hold, from settings alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/mechanism.h"
#include "engine/sums_reach.h"

namespace nustream::cli {

using engine::SumsReach;

/// At 1, 10, 100, … releases, `records` of them where that is not 0, and no further than the noise reaches.
[[nodiscard]] std::vector<SumsReach> sums_reach(const config::Config& config, const config::Mechanism& mechanism,
                                                std::uint64_t records);
void print_reach(const std::vector<SumsReach>& reach);
/// ,"moments":[…]
void append_json(const std::vector<SumsReach>& reach, std::string& out);

}  // namespace nustream::cli
