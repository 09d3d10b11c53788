// Computes the most that any record has been charged, from the entries of the spend ledger. This room does the
// arithmetic; the journal room writes the entries as bytes and protects them by a chain of MACs.
#pragma once

#include <span>
#include <string>

#include "nustream/base/units.h"

namespace nustream::privacy {

/// How the records of one epoch relate to the records of the same lane's other epochs.
enum class Disjointness {
  disjoint,     ///< the epoch's range of positions says exactly which records took part
  overlapping,  ///< the epoch began before the true end of an earlier one, which may lie past its recorded end
  unknown       ///< nothing can be said: positions were renumbered, a ledger was lost, or users changed lanes
};

/// One line of the ledger: what one (lane, epoch) has spent so far. The spend of an epoch is a running total and
/// its range of positions grows, so a later entry of the same (lane, epoch) replaces the earlier ones.
struct EpochSpend {
  LaneId lane;
  EpochId epoch;
  Position first;  ///< position of the first record of the epoch
  Position end;    ///< one past the position of the last record so far
  StepCount steps;
  Rho rho;                      ///< charge of the worst record of the range, after `steps` steps
  std::string settings_digest;  ///< identifies the settings; opaque to this room
  Disjointness disjointness;
};

/// The largest charge of any one record over all lanes and epochs, rounded up. Only the last entry of every (lane,
/// epoch) counts. A record at a position of a lane is charged the sum of
///
/// - the epochs of its lane recorded as disjoint whose range [first, end) holds the position,
/// - all epochs of its lane recorded as overlapping: the recorded end of an earlier epoch may lie before its true
///   end, so the ranges cannot tell which records were read again,
/// - all epochs of any lane recorded as unknown.
///
/// Each record is in one lane, so lanes are disjoint and the dearest lane counts. Within a lane, disjoint ranges
/// cost their maximum, and overlapping or unknown ones cost their sum. Ranges that are recorded as disjoint but
/// overlap nevertheless are summed where they overlap. For example, epochs [0, 10) and [10, 20) that were both
/// recorded as disjoint with ρ = 1 cost 1; were the second recorded as overlapping, they would cost 2.
///
/// The charge never falls. An epoch that was once recorded as overlapping or unknown stays so; a later entry can
/// neither take that back, nor lower the epoch's ρ, nor shrink its range.
///
/// Source: rule 7 of the privacy statement; composition of zCDP (Bun and Steinke 2016, Lemma 1.7).
[[nodiscard]] Rho total(std::span<const EpochSpend> entries);

}  // namespace nustream::privacy
