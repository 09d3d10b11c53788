// What the public pages of a process say of its lanes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/public_surface.h"

namespace nustream::tests {

/// One lane on both pages.
struct ShownLane {
  std::uint32_t lane = 0;
  std::uint64_t steps_committed = 0;
  std::uint64_t steps_total = 0;          ///< the number of steps as the metrics have it
  std::optional<std::uint64_t> released;  ///< the step of the estimate; empty where none is shown
  std::string estimate;                   ///< the estimate as JSON
};

[[nodiscard]] std::vector<ShownLane> shown_lanes(const serve::PublicSurface& shown);

/// The object of an estimate in a line of JSON, or in a part of one; empty where there is none.
[[nodiscard]] std::string_view estimate_in(std::string_view json);

}  // namespace nustream::tests
