// Says at which records of a stream its units are looked at, and may grow.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"

namespace nustream::config {

/// Adds the stages behind the first one, all with its radii: where the number of releases is known, after about 5,
/// 10, 20, 40 and 70% of them. Otherwise after 16 releases, and at all doublings of this number, up to 2^32.
void add_growing_stages(Moments& moments, std::uint64_t every);

/// Why units of these running sums cannot grow; empty where they can. The unit of privacy is not looked at: it has to
/// be the record.
[[nodiscard]] std::string why_units_stay(const Config& config);

}  // namespace nustream::config
