// What the last line of releases.jsonl says of the lane that wrote it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nustream/base/units.h"

namespace nustream::journal {

/// Fields that every release carries (docs/formats/releases.md).
struct LastRelease {
  LaneId lane;
  EpochId epoch;
  StepCount steps;
  Position position;
  bool is_private;
  /// ρ after these steps: what a new epoch charges the old one where its ledger line was lost; empty where the line
  /// does not say.
  std::optional<Rho> rho;
  std::string digest;  ///< of the settings; empty where the line does not say
};

/// Failure(data) where the line is no release.
[[nodiscard]] LastRelease parse_last_release(std::string_view line);

}  // namespace nustream::journal
