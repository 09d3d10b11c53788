// Makes files that hold a secret: whole from their first moment, and readable by their owner alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace nustream::secrets {

/// Makes a file of `bytes` with mode 0600, which is durable when this returns. Returns false where the name is taken,
/// and leaves that file alone. The name stands for the whole file from the first moment on: bytes are written to
/// PATH.RANDOM.new and synced, and the file then gets its name. A crash may leave PATH.RANDOM.new behind, which may
/// be deleted; a full disk leaves nothing.
///
/// Throws Failure(permission), with the message "make WHAT PATH: …; REMEDY", where no file can be made there, and
/// Failure(io) where it cannot be written.
[[nodiscard]] bool create_private_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes,
                                       const std::string& what, const std::string& remedy);

/// Makes the name of a file durable. Throws Failure(io) where the system refuses.
void sync_folder_of(const std::filesystem::path& path);

}  // namespace nustream::secrets
