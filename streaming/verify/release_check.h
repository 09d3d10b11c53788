// Releases for somebody who has no key: of each lane whole, in order and signed, and paid for in the ledger.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "journal/running_hash.h"
#include "nustream/base/units.h"
#include "publish/release_json.h"
#include "verify/trusted_keys.h"

namespace nustream::verify {

/// Of one lane.
struct CheckedReleases {
  std::uint64_t releases = 0;
  std::uint64_t signed_releases = 0;
  std::uint64_t unchained = 0;           ///< in front, of a version that did not chain them: nobody vouches for these
  std::uint64_t unsigned_end = 0;        ///< behind the last one that a signature, or the ledger, vouches for
  bool is_vouched_for = false;           ///< somebody trusted signed one of them, or a ledger that names one
  bool begins_later = false;             ///< the first one names one before it, which is not in the file
  std::optional<journal::Hash> head{};   ///< that the next release has to name
  std::optional<journal::Hash> named{};  ///< the last one in the file that the ledger names
  /// The furthest release of each epoch.
  std::map<EpochId, publish::ShownRelease> epochs{};
  double rho_ledger = 0;  ///< the largest total that a release tells of
};

/// Lanes of one stream or of several, by name and number.
using LaneName = std::pair<std::string, LaneId>;

/// More releases by cadence than that are never unsigned one after another (journal::is_signed_release()).
inline constexpr std::uint64_t unsigned_max = 15;

/// Reads the file, whose lanes may stand in any order beside each other. `released`: heads that a ledger vouches for.
/// Failure(data) where a line is no release, was changed, left out or moved; Failure(io) where there is no such file.
[[nodiscard]] std::map<LaneName, CheckedReleases> check_releases(const std::string& file, const TrustedKeys& keys,
                                                                 const std::set<journal::Hash>& released);

}  // namespace nustream::verify
