// What `nustream plan` says about running sums: how much noise they hold, from settings alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/mechanism.h"
#include "engine/sums_reach.h"
#include "publish/json_writer.h"

namespace nustream::cli {

using engine::SumsReach;

/// The noise after 1, 10, 100, … releases, up to `records` of them where that is not 0, and up to the noise's
/// horizon.
[[nodiscard]] std::vector<SumsReach> sums_reach(const config::Config& config, const config::Mechanism& mechanism,
                                                std::uint64_t records);
void print_reach(const std::vector<SumsReach>& reach);
/// Writes "moments":[…].
void append_json(const std::vector<SumsReach>& reach, publish::JsonWriter& json);

}  // namespace nustream::cli
