// A file that a command writes beside its work, where none is yet.
#pragma once

#include <string>

namespace nustream::console {

/// Failure(io) where `path` is there already: before anything is spent. Nothing for an empty path.
void require_new_file(const std::string& path);
/// Writes it with mode 0600. Failure(io), which says `what_stays`.
void write_new_file(const std::string& path, const std::string& text, const std::string& what_stays);

}  // namespace nustream::console
