// Turns a state's record into sealed bytes, and back.
#pragma once

#include <string>
#include <string_view>

#include "journal/state_record.h"
#include "secrets/seal.h"

namespace nustream::journal {

/// A state that was opened and decoded.
struct State {
  secrets::StateIdentity identity;
  StateRecord record;
};

/// Seals the record, for Batch::sealed_state. No plain copy of it is left in memory.
[[nodiscard]] std::string seal_state(const secrets::Keyring& keys, const secrets::StateIdentity& identity,
                                     const StateRecord& record);

/// Opens a sealed state. Throws as secrets::open() where it is not what is `expected`; a state that is not private is
/// never opened as a private one, nor the other way round.
[[nodiscard]] State open_state(const secrets::Keyring& keys, std::string_view sealed,
                               const secrets::ExpectedIdentity& expected);
/// Opens a state whatever its identity is, to look at it or to rotate its key.
[[nodiscard]] State open_state(const secrets::Keyring& keys, std::string_view sealed);

}  // namespace nustream::journal
