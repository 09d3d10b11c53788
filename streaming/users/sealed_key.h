// The users' key under the key file: the record by which the lanes of a stream share one (docs/formats/users.md).
#pragma once

#include <string>
#include <string_view>

#include "secrets/keyring.h"
#include "users/user_key.h"

namespace nustream::users {

/// Of a new stream: drawn from the kernel, or for an insecure seed a function of seed and stream, so that equal input
/// gives equal bytes. Asked for once in the life of a stream, by lane 0.
[[nodiscard]] UserKey new_user_key(const secrets::Keyring& keys, std::string_view stream);

/// Sealed under the sealing key of the key file. A rotation seals the same key anew.
[[nodiscard]] std::string seal_user_key(const secrets::Keyring& keys, std::string_view stream, const UserKey& key);

/// What seal_user_key() gave. Failure(permission) where another key file sealed it; Failure(data) where it is
/// damaged, cut, of another format or stream, or private where this run is not, or the other way round.
[[nodiscard]] UserKey open_user_key(const secrets::Keyring& keys, std::string_view stream, std::string_view sealed);

}  // namespace nustream::users
