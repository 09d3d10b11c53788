// The file of 32 secret bytes that wraps states: made, checked and read (docs/formats/key.md).
#pragma once

#include <filesystem>

#include "secrets/keyring.h"

namespace nustream::secrets {

/// Makes a key file of fresh random bytes, mode 0600, durable before this returns. Failure(permission) where the
/// file exists (it is left alone) or cannot be made; as create_private_file(), so that a PATH.RANDOM.new that a crash
/// leaves behind is nobody's key.
void create_key_file(const std::filesystem::path& path);

/// The keys of the file. Failure(permission) where it is missing, not a regular file of 32 bytes, all zero, owned
/// by somebody else than this process's user or root, or open to group or others.
[[nodiscard]] Keyring load_key_file(const std::filesystem::path& path);

}  // namespace nustream::secrets
