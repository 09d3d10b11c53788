// Checks a ledger for somebody who has no secret key: that it is whole, in order and signed; and tells what it comes
// to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "journal/ledger_chain.h"
#include "verify/trusted_keys.h"

namespace nustream::verify {

/// A release that lines of a ledger name.
struct NamedRelease {
  TrustedKeys::Index key = 0;  ///< the last key under which a line names it
  std::uint64_t line = 0;      ///< number of the first line that names it, from 1
};

/// What a checked ledger says.
struct CheckedLedger {
  std::uint64_t lines = 0;
  std::uint64_t signed_lines = 0;  ///< how many are signed under a trusted key
  std::uint64_t rotations = 0;     ///< how often the key was handed on
  bool ends_signed = false;        ///< the last line is signed, so that the chain vouches for all lines before it
  /// The heads of the lane's releases that the lines name; zeros where a line names none. The signer of the ledger
  /// vouches for these releases, and for all releases that are chained before them. The releases by cadence after one
  /// were made while its key or a later one was in use.
  std::map<journal::Hash, NamedRelease> released;
  std::optional<journal::Hash> last_released;  ///< the head in the last line that names one
  std::optional<LaneProgress> last;            ///< how far the last line of an epoch pays
  journal::Ledger ledger;                      ///< the lines that count, of one lane
  /// The last line of each epoch, also of epochs for which a later line of another epoch stands.
  std::map<std::pair<LaneId, EpochId>, journal::LedgerEntry> epochs;
};

/// Reads and checks the file. After a rotation that the trusted key signed, the new key is trusted in its place.
/// Throws Failure(data) where a line was changed, left out or moved, and where the last line is not signed by the key
/// that is trusted there; Failure(io) where there is no such file.
[[nodiscard]] CheckedLedger check_ledger(const std::string& file, TrustedKeys& keys);

}  // namespace nustream::verify
