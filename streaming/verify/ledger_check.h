// A ledger for somebody who has no key: whole, in order, signed, and what it comes to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "journal/ledger_chain.h"
#include "verify/trusted_keys.h"

namespace nustream::verify {

struct CheckedLedger {
  std::uint64_t lines = 0;
  std::uint64_t signed_lines = 0;  ///< under a key that is trusted
  std::uint64_t rotations = 0;
  bool ends_signed = false;  ///< the last line is signed: the chain then vouches for all in front of it
  /// Heads of the lane's releases that the lines name: whoever signed the ledger vouches for these releases, and for
  /// all that are chained in front of them.
  std::set<journal::Hash> released;
  std::optional<journal::Hash> last_released;  ///< of the last line that names one
  journal::Ledger ledger;                      ///< of one lane: what counts
  /// The last line of each epoch, those too in whose place a later line stands.
  std::map<std::pair<LaneId, EpochId>, journal::LedgerEntry> epochs;
};

/// Reads the file. A rotation that a trusted key signed makes the next one trusted. Failure(data) where a line was
/// changed, left out or moved, or the last line is not signed by a trusted key; Failure(io) where there is no such
/// file.
[[nodiscard]] CheckedLedger check_ledger(const std::string& file, TrustedKeys& keys);

}  // namespace nustream::verify
