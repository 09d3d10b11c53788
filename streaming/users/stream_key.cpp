#include "users/stream_key.h"

#include <string>

namespace nustream::users {

UserKey new_user_key(const secrets::Keyring& keys, std::string_view stream) {
  noise::KeyBytes bytes = keys.epoch_key("users of " + std::string(stream));
  UserKey key(bytes);
  noise::wipe(bytes);
  return key;
}

}  // namespace nustream::users
