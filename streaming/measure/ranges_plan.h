// The plan of a run whose settings are still to be measured: what can be said before that.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"

namespace nustream::measure {

/// One JSON object that says what is measured, at which ρ, and what is left for the run. `records` is 0 where their
/// number is not known.
[[nodiscard]] std::string plan_json(const config::Config& asked, std::uint64_t records);
/// The same for people, in lines.
[[nodiscard]] std::string plan_text(const config::Config& asked, std::uint64_t records);

}  // namespace nustream::measure
