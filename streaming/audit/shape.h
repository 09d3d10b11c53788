// The shape of one game of an audit.
#pragma once

#include <cstdint>
#include <vector>

namespace nustream::audit {

/// All records but the canary are null: what they would add is known to whoever knows them. Where the unit is the
/// user, all records of its first step and of all later ones are the canary's, and its limits say in which steps they
/// count.
struct GameShape {
  std::uint64_t steps;            ///< T
  std::vector<std::uint64_t> at;  ///< steps that the canary takes part in, rising
  bool along_axis = false;        ///< each of its gradients lies along one coordinate
  std::uint64_t windows =
      1;              ///< of time, equally long, into which an epoch's steps fall where limits hold within some
  double length = 1;  ///< of what a step takes of the canary, in bounds: less where a user's mass is
  std::uint64_t epochs = 1;  ///< equally long, each under noise of its own and from the settings' start
  bool keeps_counts = true;  ///< what the canary used up in an epoch it has used up in the next one

  [[nodiscard]] std::uint64_t steps_of_epoch() const noexcept { return steps / epochs; }
};

}  // namespace nustream::audit
