// What `nustream plan` says of running sums: how much noise they hold, from settings alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/mechanism.h"

namespace nustream::cli {

/// After so many releases, of the first stage's radii.
struct SumsReach {
  std::uint64_t releases;
  std::uint64_t records;
  double floor;   ///< λ over the records: eigenvalues of the mean of xxᵀ below it are hidden
  double stddev;  ///< that the noise of the target's moments leaves in a coefficient, where that eigenvalue is 1
};

/// At 1, 10, 100, … releases, `records` of them where that is not 0, and no further than the noise reaches.
[[nodiscard]] std::vector<SumsReach> sums_reach(const config::Config& config, const config::Mechanism& mechanism,
                                                std::uint64_t records);
void print(const std::vector<SumsReach>& reach);
/// ,"moments":[…]
void append_json(const std::vector<SumsReach>& reach, std::string& out);

}  // namespace nustream::cli
