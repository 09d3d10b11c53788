// Corrects a ledger by the state of its lane: its lines say what was reserved, and the state knows what was spent of
// that.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "journal/ledger_chain.h"
#include "journal/state_record.h"
#include "secrets/keyring.h"

namespace nustream::journal {

/// The entries of lines without a chain, as a state keeps them (StateRecord::ledger_epochs). Throws Failure(data)
/// where one is no line of a ledger.
[[nodiscard]] std::vector<LedgerEntry> read_entries(std::string_view lines);
/// Such lines for `entries`, in their order.
[[nodiscard]] std::string enclosed_lines(const std::vector<LedgerEntry>& entries, const secrets::Keyring& keys);

/// Sets the epochs of `ledger` to what the committed state `record` knows that they have spent. `ledger` has to end
/// with that state's own line; if the line reserves steps, it is kept in Ledger::reserving. A state of an earlier
/// version does not know the spends, and the ledger stays as it is: the lines of those versions say what was taken.
void settle(Ledger& ledger, const StateRecord& record);

}  // namespace nustream::journal
