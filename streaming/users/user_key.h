// The secret of a stream's users: what their identifiers are hashed under, for as long as the stream lives
// (docs/formats/users.md).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "nustream/noise/source.h"
#include "nustream/users/standings.h"

namespace nustream::users {

/// Says which key, and nothing else about it.
using UserKeyFingerprint = std::array<std::uint8_t, 16>;

/// 256 bits that are drawn once a stream, kept in every state, and changed by no epoch and no rotation of the key
/// file: under another key everybody would count again. Keys derived from it stand in locked memory and are wiped
/// with the last copy. Copies share them; immutable, any thread.
class UserKey {
 public:
  /// Fresh from the kernel. Failure(permission) where it gives none.
  [[nodiscard]] static UserKey draw();
  /// Of bytes that a state kept. The caller wipes them.
  explicit UserKey(const noise::KeyBytes& bytes);

  /// SipHash-2-4 of an identifier's bytes, 128 bits. Whoever lacks the key can neither tell whose a hash is nor find
  /// two identifiers of one hash.
  [[nodiscard]] UserHash hash(std::string_view identifier) const noexcept;
  /// The partitioner's number of a user, hidden; masked again it is the number. Asked for where a user is new, and
  /// where lanes change.
  [[nodiscard]] std::uint32_t masked(const UserHash& user, std::uint32_t number) const noexcept;
  /// SipHash-2-4 of a whole entry, 128 bits: its term in the digest of a set (set_digest.h).
  [[nodiscard]] unsigned __int128 term(const Entry& entry) const noexcept;

  /// Hides the files of a table on disk.
  [[nodiscard]] std::span<const std::uint8_t, 32> table_key() const noexcept;
  /// Seals the log of changes and its snapshots.
  [[nodiscard]] std::span<const std::uint8_t, 32> log_key() const noexcept;
  [[nodiscard]] const UserKeyFingerprint& fingerprint() const noexcept { return fingerprint_; }
  /// What a state keeps.
  [[nodiscard]] std::span<const std::uint8_t, 32> bytes() const noexcept;

 private:
  struct Keys;

  std::shared_ptr<const Keys> keys_;
  UserKeyFingerprint fingerprint_{};
};

}  // namespace nustream::users
