// Checks releases for somebody who has no secret key: that those of each lane are whole, in order, and signed.
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
#include "verify/ledger_check.h"
#include "verify/trusted_keys.h"

namespace nustream::verify {

/// What the checked releases of one lane say.
struct CheckedReleases {
  TrustedKeys::Index key = 0;          ///< no release from here on may be signed by an earlier key
  TrustedKeys::Index cadence_key = 0;  ///< the same for releases by cadence, from the ledger's lines
  std::uint64_t releases = 0;
  std::uint64_t signed_releases = 0;
  std::uint64_t unchained = 0;     ///< how many at the beginning are of a version without a chain: nobody vouches
  std::uint64_t unsigned_end = 0;  ///< how many stand behind the last one that a signature or the ledger vouches for
  bool is_vouched_for = false;     ///< a trusted key signed one of them, or a ledger line that names one
  bool begins_later = false;       ///< the first one names a release before it, which is not in the file
  std::optional<journal::Hash> head{};    ///< what the next release has to name
  std::optional<journal::Hash> named{};   ///< the last release in the file that the ledger names
  std::set<journal::Hash> all_named{};    ///< all releases in the file that the ledger names
  std::optional<LaneProgress> reached{};  ///< epoch and step of the last release
  std::optional<journal::Hash> extra{};   ///< the last release that is not by cadence
  /// The furthest release of each epoch, with the largest total over all epochs (rho_ledger) that a release of that
  /// epoch tells of.
  std::map<EpochId, publish::ShownRelease> epochs{};
};

/// A lane, by the name of its stream and its number.
using LaneName = std::pair<std::string, LaneId>;

/// At most this many releases by cadence follow each other without a signature (journal::is_signed_release()).
inline constexpr std::uint64_t unsigned_max = 15;

/// Reads and checks the file, in which releases of several lanes may be mixed in any order. `ledger`, that of the
/// lane `own`, says for which heads it vouches, and how far the lane was when a key was handed on. Throws
/// Failure(data) where a line is no release, or where one was changed, left out or moved; Failure(io) where there is
/// no such file.
[[nodiscard]] std::map<LaneName, CheckedReleases> check_releases(const std::string& file, const TrustedKeys& keys,
                                                                 const CheckedLedger& ledger, const LaneName& own);

}  // namespace nustream::verify
