// What a folder whose state is lost has spent without a line of its ledger that says so.
#pragma once

#include <optional>
#include <vector>

#include "config/config.h"
#include "journal/file_journal.h"
#include "journal/ledger_chain.h"

namespace nustream::folder {

/// The line that the ledger has to be given before anything else is spent; nothing where it vouches for every spend
/// that the adopted files show. A power failure may have kept a release and lost its ledger line: then the release
/// itself says what its epoch has spent, and the line is written anew, over a range that nobody knows. `is_private`:
/// of the run. Failure(data) where a spend is not known at all.
[[nodiscard]] std::optional<journal::LedgerEntry> owed_by(const journal::Adopted& adopted,
                                                          const journal::Ledger& ledger, const config::Config& config,
                                                          bool is_private);

/// `owed` with at least what `lost` says of the same epoch: what a witness knows of the spend that the ledger has
/// lost.
[[nodiscard]] journal::LedgerEntry at_least(journal::LedgerEntry owed, const std::vector<journal::LedgerEntry>& lost);

}  // namespace nustream::folder
