// The secret of a stream's users. Their identifiers are hashed under it for as long as the stream lives
// (docs/formats/users.md).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "nustream/noise/source.h"
#include "nustream/users/changes.h"
#include "nustream/users/placement.h"
#include "nustream/users/standings.h"
#include "secrets/keyring.h"

namespace nustream::users {

/// Identifies a key, and says nothing else about it.
using UserKeyFingerprint = std::array<std::uint8_t, 16>;

/// 256 bits that are drawn once for a stream and kept in every state. No epoch and no rotation of the key file
/// changes them, since under another key everybody would count again. The keys that are derived from it are kept in
/// locked memory; copies share them, and they are wiped with the last copy. It does not change, and may be used from
/// any thread.
class UserKey {
 public:
  /// Draws a fresh key from the kernel. Throws Failure(permission) where the kernel gives no random bytes.
  [[nodiscard]] static UserKey draw();
  /// The key with the bytes that a state kept. The caller wipes them.
  explicit UserKey(const noise::KeyBytes& bytes);

  /// SipHash-2-4 of an identifier's bytes, 128 bits. Without the key nobody can tell whose hash it is, nor find two
  /// identifiers with one hash.
  [[nodiscard]] UserHash hash(std::string_view identifier) const noexcept;
  /// Hides the partitioner's number of a user; masked twice it is the number again. It is needed where a user is new,
  /// and where the number of lanes changes.
  [[nodiscard]] std::uint32_t masked(const UserHash& user, std::uint32_t number) const noexcept;
  /// SipHash-2-4 of a whole entry, 128 bits: its term in the digest of a set (set_digest.h).
  [[nodiscard]] unsigned __int128 term(const Entry& entry) const noexcept;

  /// The key under which the files of a table on disk are hidden.
  [[nodiscard]] std::span<const std::uint8_t, 32> table_key() const noexcept;
  /// The key that seals the records of the store.
  [[nodiscard]] std::span<const std::uint8_t, 32> log_key() const noexcept;
  [[nodiscard]] const UserKeyFingerprint& fingerprint() const noexcept { return fingerprint_; }
  /// The bytes that a state keeps.
  [[nodiscard]] std::span<const std::uint8_t, 32> bytes() const noexcept;

 private:
  struct Keys;

  std::shared_ptr<const Keys> keys_;
  UserKeyFingerprint fingerprint_{};
};

/// Masks numbers under the key, for the changes of a store's batches.
[[nodiscard]] Changes::Mask mask_under(const UserKey& key);

/// A number of 32 bits. The partitioners of Kafka's clients make it of the identifier's bytes; user_hash makes it of
/// the user's hash.
[[nodiscard]] std::uint32_t partition_number(Partitioner partitioner, std::string_view identifier,
                                             const UserHash& user) noexcept;

/// Makes the key of a new stream's users. It is drawn from the kernel; under an insecure seed it is a function of
/// seed and stream, so that equal input gives equal lanes. Lane 0 calls this once in the life of a stream. Its state
/// holds the key from then on, and the other lanes take it from there.
[[nodiscard]] UserKey new_user_key(const secrets::Keyring& keys, std::string_view stream);

}  // namespace nustream::users
