// A run of full length has to have met every fault that it claims to withstand.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "simulated_broker.h"

namespace nustream::tests {

/// Expects that each kind has happened except those of `without`, and that no other kind has.
inline void expect_every_kind(const FaultCounts& happened, std::span<const std::string_view> kinds,
                              std::span<const std::string_view> without = {}) {
  for (const std::string_view kind : kinds) {
    if (std::ranges::find(without, kind) != without.end()) continue;
    const auto found = happened.find(std::string(kind));
    EXPECT_TRUE(found != happened.end() && found->second > 0) << kind << ": never happened";
  }
  for (const auto& [what, times] : happened) {
    EXPECT_NE(std::ranges::find(kinds, what), kinds.end()) << what << ": not in faults.h";
  }
}

}  // namespace nustream::tests
