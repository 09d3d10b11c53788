// The durable bytes of an entry of the table of users (docs/formats/users.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "nustream/users/standings.h"

namespace nustream::users {

/// The number of bytes of the user's hash alone, and of a whole entry.
inline constexpr std::size_t user_bytes = 16;
inline constexpr std::size_t entry_bytes = 36;
using EntryBytes = std::array<std::uint8_t, entry_bytes>;

namespace detail {

template <class Unsigned>
inline std::uint8_t* put(Unsigned value, std::uint8_t* out) noexcept {
  for (std::size_t byte = 0; byte < sizeof value; ++byte) *out++ = static_cast<std::uint8_t>(value >> (8 * byte));
  return out;
}
template <class Unsigned>
inline Unsigned take(const std::uint8_t*& in) noexcept {
  Unsigned value = 0;
  for (std::size_t byte = sizeof value; byte-- > 0;) value = static_cast<Unsigned>(value << 8 | in[byte]);
  in += sizeof value;
  return value;
}

}  // namespace detail

/// Writes an entry, little-endian: the low and the high half of the hash, then number, next, count and mass.
inline void put_entry(const Entry& entry, std::span<std::uint8_t, entry_bytes> out) noexcept {
  std::uint8_t* at = detail::put(entry.user.low, out.data());
  at = detail::put(entry.user.high, at);
  at = detail::put(entry.number, at);
  at = detail::put(entry.standing.next, at);
  at = detail::put(entry.standing.count, at);
  detail::put(entry.standing.mass, at);
}

[[nodiscard]] inline Entry take_entry(std::span<const std::uint8_t, entry_bytes> bytes) noexcept {
  const std::uint8_t* at = bytes.data();
  Entry entry;
  entry.user.low = detail::take<std::uint64_t>(at);
  entry.user.high = detail::take<std::uint64_t>(at);
  entry.number = detail::take<std::uint32_t>(at);
  entry.standing.next = detail::take<std::uint64_t>(at);
  entry.standing.count = detail::take<std::uint32_t>(at);
  entry.standing.mass = detail::take<std::uint32_t>(at);
  return entry;
}

}  // namespace nustream::users
