// What the readers of a ledger's lines share. This header is private to the room.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "journal/ledger_chain.h"

namespace nustream::journal {

/// Throws the Failure of a ledger whose lines are not those that were written. `what` is told of the ledger, as in
/// "has a line that is no line of a ledger".
[[noreturn]] void not_genuine(const std::string& what);

/// The entry of a line; nothing for a rotation's line. Throws Failure(data) where it is no line of a ledger.
[[nodiscard]] std::optional<LedgerEntry> entry_of(std::string_view line);

}  // namespace nustream::journal
