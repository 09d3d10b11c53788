// What a folder whose state is lost has spent although no line of its ledger says so.
#pragma once

#include <optional>
#include <vector>

#include "config/config.h"
#include "journal/file_journal.h"
#include "journal/ledger_chain.h"

namespace nustream::folder {

/// The line that has to be added to the ledger before anything else is spent; nothing where the ledger pays for all
/// that the adopted files show. A power failure may have kept a release and lost its ledger line. The release itself
/// says then what its epoch has spent, and the line is written anew, over a range that nobody knows. `is_private` is
/// the run's. Throws Failure(data) where a spend is not known at all.
[[nodiscard]] std::optional<journal::LedgerEntry> owed_by(const journal::Adopted& adopted,
                                                          const journal::Ledger& ledger, const config::Config& config,
                                                          bool is_private);

/// `owed`, raised to what `lost` says of the same epoch. `lost` is what a witness knows of spends that the ledger has
/// lost.
[[nodiscard]] journal::LedgerEntry at_least(journal::LedgerEntry owed, const std::vector<journal::LedgerEntry>& lost);

}  // namespace nustream::folder
