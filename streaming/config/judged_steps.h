// Says which steps of a run over a table are looked at to tell whether its path has settled.
#pragma once

#include <cstdint>
#include <optional>

#include "config/config.h"

namespace nustream::config {

/// The steps after `from`, up to `through`. Of their iterates those are looked at that release.every releases.
struct JudgedSteps {
  std::uint64_t from;
  std::uint64_t through;
  std::uint64_t enough;  ///< with fewer iterates it cannot be told whether the path has settled
};

/// Those of intervals by checkpoints or runs: from the first value that an interval is made of, for a run from its
/// middle at the latest. Nothing for other kinds, whose status the releases tell.
[[nodiscard]] std::optional<JudgedSteps> judged_steps(const Config& config);

}  // namespace nustream::config
