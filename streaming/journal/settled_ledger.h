// A ledger beside the state of its lane: what its lines reserve, and what the state knows to be spent of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "journal/ledger_chain.h"
#include "journal/state_record.h"
#include "secrets/keyring.h"

namespace nustream::journal {

/// What lines say that stand one behind the other without a chain, as a state keeps them
/// (StateRecord::ledger_epochs). Failure(data) where one is none.
[[nodiscard]] std::vector<LedgerEntry> read_entries(std::string_view lines);
/// Such lines, in the order of `entries`.
[[nodiscard]] std::string enclosed_lines(const std::vector<LedgerEntry>& entries, const secrets::Keyring& keys);

/// `ledger`, which ends with the own line of the committed state `record`, from now on says of each epoch what that
/// state knows to be spent, and of its last line what that reserves. Of a state of an earlier version, which knows
/// nothing, it stays as it is: there the lines say what was taken.
void settle(Ledger& ledger, const StateRecord& record);

}  // namespace nustream::journal
