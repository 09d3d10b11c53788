// `nustream verify`: whether releases and a ledger are what a stream published, for somebody who has its public key
// and no other (docs/operations.md#for-third-parties). Reads nothing else, and writes nothing.
//
// What it tells: that no release in front of the last signature was changed, left out or moved; that the same holds
// of the ledger; and that every release was paid for in it. What it cannot tell: whether the records were those they
// are said to be, and whether the holder of the key published another history elsewhere.
#pragma once

#include <map>
#include <string>

#include "error.h"
#include "verify/ledger_check.h"
#include "verify/release_check.h"

namespace nustream::verify {

struct Options {
  std::string releases;
  std::string ledger;      ///< of one lane
  std::string public_key;  ///< 64 hexadecimal digits, or a file that holds them
  bool json = false;
};

/// What the ledger and the releases of its lane come to.
struct Verified {
  CheckedLedger ledger;
  std::map<LaneName, CheckedReleases> lanes;  ///< those of other lanes are checked without a ledger
  LaneName lane;                              ///< the ledger's
  Rho total{0};                               ///< ρ of all of its epochs
  bool is_private = true;                     ///< false of an insecure seed, under which anybody can sign
};

/// Failure(io) for files, and a key that is none; Failure(data) for whatever does not hold, with file
/// and line.
[[nodiscard]] Verified check(const Options& options);

/// The same, printed.
[[nodiscard]] Exit run(const Options& options);

}  // namespace nustream::verify
