// What a record has been charged in all: the arithmetic of the spend ledger. Bytes and their MAC chain are the
// journal's.
#pragma once

#include <span>
#include <string>

#include "nustream/base/units.h"

namespace nustream::privacy {

/// What is known of the records of an epoch against those of the lane's other epochs.
enum class Disjointness {
  disjoint,     ///< the range of positions says exactly which records took part
  overlapping,  ///< it began below where an earlier epoch had been, perhaps beyond the earlier one's recorded end
  unknown       ///< nothing is known: another numbering of positions, a lost ledger, users who changed lanes
};

/// One line of the ledger: what one (lane, epoch) has spent so far. A later entry of the same (lane, epoch)
/// supersedes the earlier ones: the spend of an epoch is a running total, its range grows.
struct LedgerEntry {
  LaneId lane;
  EpochId epoch;
  Position first;  ///< of the first record of the epoch
  Position end;    ///< one past the last record so far
  StepCount steps;
  Rho rho;                      ///< of the worst record of the range, after `steps` steps
  std::string settings_digest;  ///< opaque
  Disjointness disjointness;
};

/// The largest total of any record, rounded up. With the last entry of every (lane, epoch), a record at a position
/// of a lane is charged the sum of
///
/// - the epochs of its lane recorded as disjoint whose range [first, end) holds the position,
/// - all epochs of its lane recorded as overlapping: the recorded end of an earlier epoch may lie before its true
///   one, so the ranges cannot tell which records were read again,
/// - all epochs of any lane recorded as unknown.
///
/// Disjoint ranges therefore cost the maximum, overlapping and unknown ones the sum; lanes are disjoint, since each
/// record is in one lane. Ranges recorded as disjoint that overlap nevertheless are summed where they do. An epoch
/// once recorded as overlapping or unknown stays so: a later entry cannot take it back, nor can it lower the epoch's
/// ρ or shrink its range.
///
/// Source: rule 7 of the privacy statement; composition of zCDP (Bun and Steinke 2016, Lemma 1.7).
[[nodiscard]] Rho total(std::span<const LedgerEntry> entries);

}  // namespace nustream::privacy
