// A state under lock and key: XChaCha20-Poly1305 with everything that names it as associated data
// (docs/formats/state.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nustream/base/units.h"
#include "secrets/keyring.h"

namespace nustream::secrets {

/// Whose state it is: readable without a key, unchangeable without one.
struct StateIdentity {
  std::string stream;
  LaneId lane;
  EpochId epoch;
  StepCount steps;              ///< taken in this epoch
  std::string settings_digest;  ///< 64 hexadecimal digits
  bool is_private;              ///< false where noise ever came from an insecure seed, or beside a comparison
};

/// What a resume expects of a state; an empty entry accepts any.
struct ExpectedIdentity {
  std::string stream;
  LaneId lane;
  std::optional<EpochId> epoch;
  std::optional<std::string> settings_digest;
  std::optional<bool> is_private;
};

/// A state that was opened. Whoever holds `plain` wipes it (wipe_text).
struct OpenedState {
  StateIdentity identity;
  std::string plain;
};

/// Seals `plain` under a fresh random nonce. Encrypts in place, so that no copy of the plain bytes is left.
[[nodiscard]] std::string seal(const Keyring& keys, const StateIdentity& identity, std::string&& plain);

/// The header alone, without a key and not authenticated: to say what a file claims to be. Failure(data) where it is
/// no state of this format.
[[nodiscard]] StateIdentity read_identity(std::string_view sealed);

/// True for a header that is whole and names another stream, lane or kind of run: no damaged state of the expected
/// one.
[[nodiscard]] bool is_foreign(std::string_view sealed, const ExpectedIdentity& expected);

/// Opens what seal() gave. Failure(permission) where another key sealed it; Failure(data) where it is of another
/// format, damaged or cut, or not the state that is expected (the line says which of them).
[[nodiscard]] OpenedState open(const Keyring& keys, std::string_view sealed);
[[nodiscard]] OpenedState open(const Keyring& keys, std::string_view sealed, const ExpectedIdentity& expected);

/// Overwrites a text that held secrets.
void wipe_text(std::string& text) noexcept;

}  // namespace nustream::secrets
