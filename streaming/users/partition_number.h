// The partitioner's number of an identifier, of which its lane follows (nustream/users/placement.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "nustream/users/placement.h"
#include "users/user_key.h"

namespace nustream::users {

/// 32 bits: of the identifier's bytes for the partitioners of Kafka's clients, of the user's hash otherwise.
[[nodiscard]] std::uint32_t partition_number(Partitioner partitioner, std::string_view identifier,
                                             const UserHash& user) noexcept;

}  // namespace nustream::users
