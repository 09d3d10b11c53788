// The shape of one game of an audit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nustream::audit {

/// Every record but the canary is null, because the adversary knows the others and what they add. Where the unit is
/// the user, all records from the canary user's first step on are the user's, and its limits decide in which steps
/// they count.
struct GameShape {
  std::uint64_t steps;            ///< T
  std::vector<std::uint64_t> at;  ///< steps that the canary takes part in, rising
  bool along_axis = false;        ///< each of its gradients lies along one coordinate
  /// Windows of time, equally long, that an epoch's steps fall into where the limits hold within windows.
  std::uint64_t windows = 1;
  double length = 1;         ///< how much of a step's bound the canary takes: less than 1 where a user's mass is
  std::uint64_t epochs = 1;  ///< equally long; each has noise of its own and begins from the settings' start
  bool keeps_counts = true;  ///< what the canary used up in an epoch stays used up in the next one

  [[nodiscard]] std::uint64_t steps_of_epoch() const noexcept { return steps / epochs; }
  /// Whether the canary takes part in the step.
  [[nodiscard]] bool takes_part(std::uint64_t step) const { return std::binary_search(at.begin(), at.end(), step); }
};

}  // namespace nustream::audit
