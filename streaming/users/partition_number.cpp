#include "users/partition_number.h"

#include <zlib.h>

namespace nustream::users {

std::uint32_t partition_number(Partitioner partitioner, std::string_view identifier, const UserHash& user) noexcept {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(identifier.data());
  switch (partitioner) {
    case Partitioner::murmur2:
      return murmur2({bytes, identifier.size()});
    case Partitioner::crc32:
      return static_cast<std::uint32_t>(crc32_z(0, bytes, identifier.size()));
    case Partitioner::user_hash:
      break;
  }
  return number_of(user);
}

}  // namespace nustream::users
