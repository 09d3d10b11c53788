// What the users of a lane have spent, as one ledger line. It goes with the users when they move to other lanes.
#pragma once

#include <cstdint>
#include <span>

#include "journal/ledger_chain.h"
#include "nustream/privacy/participation.h"

namespace nustream::engine {

/// All epochs of a lane as one line (users::folded()), over the neighbours that are `asked` about. Contract: there is
/// at least one epoch. Throws Failure(configuration) where one of them says nothing about users, since a spend that
/// is not known must not be taken for none.
[[nodiscard]] journal::LedgerEntry folded(std::span<const journal::LedgerEntry> epochs, privacy::Neighbours asked);
/// The line for users who may have been in either of two lanes: the larger spend of both (users::dearest()).
[[nodiscard]] journal::LedgerEntry dearest(const journal::LedgerEntry& one, const journal::LedgerEntry& other,
                                           privacy::Neighbours asked);
/// The line for users whose counts nobody knows any more (users::without_counts()): each may have spent the most.
[[nodiscard]] journal::LedgerEntry without_counts(const journal::LedgerEntry& line, privacy::Neighbours asked);

/// How often the number of lanes has changed so far, as the ledger of this lane tells.
[[nodiscard]] std::uint32_t changes_of_lanes(const journal::Ledger& ledger);

}  // namespace nustream::engine
