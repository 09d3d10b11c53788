// From record to sealed bytes and back: the two calls between a lane and its journal.
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

/// Sealed bytes for Batch::sealed_state; no plain copy is left.
[[nodiscard]] std::string seal_state(const secrets::Keyring& keys, const secrets::StateIdentity& identity,
                                     const StateRecord& record);

/// Failures as secrets::open(); a state that is not private is never opened as a private one, nor the other way
/// round.
[[nodiscard]] State open_state(const secrets::Keyring& keys, std::string_view sealed,
                               const secrets::ExpectedIdentity& expected);
/// Without an expectation: to look at a state or to rotate its key.
[[nodiscard]] State open_state(const secrets::Keyring& keys, std::string_view sealed);

}  // namespace nustream::journal
