// The one secret by which all lanes of an attached stream tell users apart.
#pragma once

#include <string_view>

#include "secrets/keyring.h"
#include "users/user_key.h"

namespace nustream::users {

/// Of a new stream: drawn from the kernel, or for an insecure seed a function of seed and stream, so that equal input
/// gives equal lanes. Asked for once in the life of a stream, by lane 0; its state holds it from then on, and the
/// other lanes take it from there.
[[nodiscard]] UserKey new_user_key(const secrets::Keyring& keys, std::string_view stream);

}  // namespace nustream::users
