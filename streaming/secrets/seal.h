// Seals a state with XChaCha20-Poly1305; all that names the state is associated data (docs/formats/state.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nustream/base/units.h"
#include "secrets/keyring.h"

namespace nustream::secrets {

/// Whose state it is. Anybody can read the identity, but nobody can change it without the key.
struct StateIdentity {
  std::string stream;
  LaneId lane;
  EpochId epoch;
  StepCount steps;              ///< steps taken in this epoch
  std::string settings_digest;  ///< 64 hexadecimal digits
  /// False where noise ever came from an insecure seed, or the run was one with --compare-nonprivate.
  bool is_private;
};

/// What a resume expects of a state; an empty entry accepts any value.
struct ExpectedIdentity {
  std::string stream;
  LaneId lane;
  std::optional<EpochId> epoch;
  std::optional<std::string> settings_digest;
  std::optional<bool> is_private;
};

/// A state that was opened. The holder of `plain` wipes it (wipe_text).
struct OpenedState {
  StateIdentity identity;
  std::string plain;
};

/// Seals `plain` under a fresh random nonce. It encrypts in place, so that no copy of the plain bytes is left.
[[nodiscard]] std::string seal(const Keyring& keys, const StateIdentity& identity, std::string&& plain);

/// Reads the header alone, without a key and without checking who wrote it, to say what a file claims to be. Throws
/// Failure(data) where it is no state of this format.
[[nodiscard]] StateIdentity read_identity(std::string_view sealed);

/// Whether the header is whole and names another stream, lane or kind of run. Such a state is not a damaged state of
/// the expected run, but that of another one.
[[nodiscard]] bool is_foreign(std::string_view sealed, const ExpectedIdentity& expected);

/// Opens what seal() made. Throws Failure(permission) where another key sealed it, and Failure(data) where it is of
/// another format, is damaged or cut, or is not the state that is expected; the message says which.
[[nodiscard]] OpenedState open(const Keyring& keys, std::string_view sealed);
[[nodiscard]] OpenedState open(const Keyring& keys, std::string_view sealed, const ExpectedIdentity& expected);

/// Overwrites a text that held secrets.
void wipe_text(std::string& text) noexcept;
/// Wipes a text at the end of a scope, also where an exception leaves the scope.
class WipeAtEnd {
 public:
  explicit WipeAtEnd(std::string& text) noexcept : text_(text) {}
  ~WipeAtEnd() { wipe_text(text_); }
  WipeAtEnd(const WipeAtEnd&) = delete;
  WipeAtEnd& operator=(const WipeAtEnd&) = delete;

 private:
  std::string& text_;
};

}  // namespace nustream::secrets
