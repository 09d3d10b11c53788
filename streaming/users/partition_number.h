// The number that a partitioner gives an identifier. The user's lane follows from it (nustream/users/placement.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "nustream/users/placement.h"
#include "users/user_key.h"

namespace nustream::users {

/// A number of 32 bits. The partitioners of Kafka's clients make it of the identifier's bytes; user_hash makes it of
/// the user's hash.
[[nodiscard]] std::uint32_t partition_number(Partitioner partitioner, std::string_view identifier,
                                             const UserHash& user) noexcept;

}  // namespace nustream::users
