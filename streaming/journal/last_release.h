// What the last release of a file says of the lane that wrote it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "journal/disk.h"
#include "nustream/base/units.h"
#include "nustream/privacy/participation.h"
#include "nustream/users/limits.h"

namespace nustream::journal {

/// Fields that every release carries (docs/formats/releases.md).
struct LastRelease {
  LaneId lane;
  EpochId epoch;
  StepCount steps;
  Position position;
  privacy::Neighbours neighbours;  ///< zero-out of whole records where the line does not say
  bool is_private;
  /// ρ after these steps; empty where the line does not say. A new epoch charges it for this epoch where this epoch's
  /// ledger line was lost.
  std::optional<Rho> rho;
  std::string digest;                     ///< the settings digest; empty where the line does not say
  std::optional<Rho> rho_limit;           ///< what ρ never exceeds; empty where the line does not say
  std::optional<users::Limits> limits{};  ///< the limits of users, where the unit is the user
  bool trusts_framing = false;            ///< LedgerEntry::trusts_framing
};

/// Reads a release. Throws Failure(data) where the line is none.
[[nodiscard]] LastRelease parse_last_release(std::string_view line);

/// The last whole line of a file, newline included, read from the file's end; "" where there is none.
[[nodiscard]] std::string last_line(Disk& disk, const Disk::Path& path);

}  // namespace nustream::journal
