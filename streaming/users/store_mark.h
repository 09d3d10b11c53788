// How far a lane's store of users has come: what the lane's state holds of it (docs/formats/users.md).
#pragma once

#include <cstdint>
#include <string>

#include "secrets/fields.h"
#include "users/set_digest.h"

namespace nustream::users {

/// Goes into the sealed state with the batch whose changes it covers. All zeros: an empty table, nothing was stored.
struct StoreMark {
  std::uint64_t number = 0;  ///< of the last record of the store
  std::uint64_t commit = 0;  ///< batches that the store holds
  std::uint64_t users = 0;   ///< in the table: a rebuild makes room for them
  SetDigest digest{};        ///< of the table

  friend bool operator==(const StoreMark&, const StoreMark&) = default;
};

inline constexpr std::size_t mark_bytes = 40;
/// 40 bytes: number, commit, users, digest, little-endian.
inline void append_mark(const StoreMark& mark, std::string& out) {
  secrets::append_integer(mark.number, out);
  secrets::append_integer(mark.commit, out);
  secrets::append_integer(mark.users, out);
  secrets::append_integer(static_cast<std::uint64_t>(mark.digest.sum()), out);
  secrets::append_integer(static_cast<std::uint64_t>(mark.digest.sum() >> 64), out);
}
[[nodiscard]] inline StoreMark take_mark(secrets::FieldReader& fields) {
  StoreMark mark;
  mark.number = fields.integer<std::uint64_t>();
  mark.commit = fields.integer<std::uint64_t>();
  mark.users = fields.integer<std::uint64_t>();
  const unsigned __int128 low = fields.integer<std::uint64_t>();
  mark.digest = SetDigest(static_cast<unsigned __int128>(fields.integer<std::uint64_t>()) << 64 | low);
  return mark;
}

}  // namespace nustream::users
