// What can be said of a run before its settings are measured.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"

namespace nustream::measure {

/// One JSON object: what is measured, at which ρ, and what is left. `records`: 0 where they are not known.
[[nodiscard]] std::string plan_json(const config::Config& asked, std::uint64_t records);
/// The same for people, in lines.
[[nodiscard]] std::string plan_text(const config::Config& asked, std::uint64_t records);

}  // namespace nustream::measure
