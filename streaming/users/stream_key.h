// The secret by which all lanes of an attached stream tell users apart.
#pragma once

#include <string_view>

#include "secrets/keyring.h"
#include "users/user_key.h"

namespace nustream::users {

/// Makes the key of a new stream's users. It is drawn from the kernel; under an insecure seed it is a function of
/// seed and stream, so that equal input gives equal lanes. Lane 0 calls this once in the life of a stream. Its state
/// holds the key from then on, and the other lanes take it from there.
[[nodiscard]] UserKey new_user_key(const secrets::Keyring& keys, std::string_view stream);

}  // namespace nustream::users
