// `nustream verify`: checks whether releases and a ledger are what a stream published, for somebody who has only its
// public key (docs/operations.md#for-third-parties). It reads nothing else, and writes nothing.
//
// It tells that no release before the last signature was changed, left out or moved, that the same holds for the
// ledger, and that the ledger pays for every release. It cannot tell whether the records were those that they are
// said to be, nor whether the holder of the key published another history elsewhere.
#pragma once

#include <map>
#include <string>

#include "error.h"
#include "verify/ledger_check.h"
#include "verify/release_check.h"

namespace nustream::verify {

struct Options {
  std::string releases;
  std::string ledger;      ///< the file of one lane's ledger
  std::string public_key;  ///< 64 hexadecimal digits, or a file that holds them
  bool json = false;
  bool complete = false;  ///< the last release by cadence has to be the one that the ledger names as the last
};

/// The result of checking a ledger and releases.
struct Verified {
  CheckedLedger ledger;
  std::map<LaneName, CheckedReleases> lanes;  ///< releases of other lanes are checked without a ledger
  LaneName lane;                              ///< the lane of the ledger
  Rho total{0};                               ///< ρ of all epochs of that lane
  secrets::PublicKey key{};                   ///< the key under which the ledger ends
  bool is_private = true;                     ///< false under an insecure seed, where anybody can sign
};

/// Checks the files. Throws Failure(io) for a file that cannot be read or a public key that is none, and
/// Failure(data), with file and line where there is one, for whatever does not hold.
[[nodiscard]] Verified check(const Options& options);

/// Checks the files and prints the result. Throws as check(); and Failure(data) behind the result where
/// `options.complete` asks for it and the file does not end as the ledger says, or the ledger cannot say so yet.
[[nodiscard]] Exit run(const Options& options);

}  // namespace nustream::verify
