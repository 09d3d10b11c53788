// What users of a lane have spent, as one ledger line that goes with them to other lanes.
#pragma once

#include <cstdint>
#include <span>

#include "journal/ledger_chain.h"
#include "nustream/privacy/participation.h"

namespace nustream::engine {

/// All of the lane's epochs as one (users::folded()), over the neighbours that are `asked` about. Contract: there is
/// one. Failure(configuration) where one of them says nothing about users: no spend is taken for none.
[[nodiscard]] journal::LedgerEntry folded(std::span<const journal::LedgerEntry> epochs, privacy::Neighbours asked);
/// Of two lanes, of which a user may have been in either (users::dearest()).
[[nodiscard]] journal::LedgerEntry dearest(const journal::LedgerEntry& one, const journal::LedgerEntry& other,
                                           privacy::Neighbours asked);
/// Of users of whom nobody knows any more what they did (users::without_counts()).
[[nodiscard]] journal::LedgerEntry without_counts(const journal::LedgerEntry& line, privacy::Neighbours asked);

/// How often the users of the lane of this ledger have come from other lanes.
[[nodiscard]] std::uint32_t changes_of_lanes(const journal::Ledger& ledger);

}  // namespace nustream::engine
