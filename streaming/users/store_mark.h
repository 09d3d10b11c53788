// How far a lane's store of users has come. The lane's state holds this mark (docs/formats/users.md).
#pragma once

#include <cstdint>
#include <string>

#include "secrets/fields.h"
#include "users/set_digest.h"

namespace nustream::users {

/// It goes into the sealed state with the batch whose changes it covers. All zeros stand for an empty table, with
/// nothing in the store.
struct StoreMark {
  std::uint64_t number = 0;  ///< the number of the last record of the store
  std::uint64_t commit = 0;  ///< how many batches the store holds
  std::uint64_t users = 0;   ///< how many users are in the table; a rebuild makes room for them
  SetDigest digest{};        ///< the digest of the table

  friend bool operator==(const StoreMark&, const StoreMark&) = default;
};

inline constexpr std::size_t mark_bytes = 40;
/// Appends the mark in mark_bytes bytes, little-endian: number, commit, users, digest.
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
