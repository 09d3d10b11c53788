// Makes, checks and reads the file of 32 secret bytes that wraps states (docs/formats/key.md).
#pragma once

#include <filesystem>

#include "secrets/keyring.h"

namespace nustream::secrets {

/// Makes a key file of fresh random bytes with mode 0600, which is durable when this returns. Throws
/// Failure(permission) where the file exists, which is left alone, or cannot be made. A crash may leave a
/// PATH.RANDOM.new behind (see create_private_file()); no state was ever sealed with that key.
void create_key_file(const std::filesystem::path& path);

/// Reads the keys of the file. Throws Failure(permission) where the file is missing, is not a regular file of 32
/// bytes, is all zero, belongs to somebody other than this process's user or root, or is open to group or others.
[[nodiscard]] Keyring load_key_file(const std::filesystem::path& path);

}  // namespace nustream::secrets
