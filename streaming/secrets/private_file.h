// Files with a secret in them that are made once: whole from their first moment, readable by their owner alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace nustream::secrets {

/// Makes a file of `bytes`, mode 0600, durable before this returns; false where the name is taken, which is left
/// alone. The name stands for the whole file from the first moment on: bytes are written to PATH.RANDOM.new, synced,
/// and given the name. A crash leaves such a file behind, which may be deleted; a full disk leaves nothing.
/// Failure(permission), "make WHAT PATH: …; REMEDY", where no file can be made there, Failure(io) where it cannot be
/// written.
[[nodiscard]] bool create_private_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes,
                                       const std::string& what, const std::string& remedy);

/// Makes the name of a file durable. Failure(io) where the system refuses.
void sync_folder_of(const std::filesystem::path& path);

}  // namespace nustream::secrets
