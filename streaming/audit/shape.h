// The shape of one game of an audit.
#pragma once

#include <cstdint>
#include <vector>

namespace nustream::audit {

/// All records but the canary are null: what they would add is known to whoever knows them.
struct GameShape {
  std::uint64_t steps;            ///< T
  std::vector<std::uint64_t> at;  ///< steps that the canary takes part in, rising
  bool along_axis = false;        ///< each of its gradients lies along one coordinate
};

}  // namespace nustream::audit
