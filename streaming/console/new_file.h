// A file that a command writes beside its work, at a path where no file is yet.
#pragma once

#include <string>

namespace nustream::console {

/// Throws Failure(io) where `path` is there already, so that a command can refuse it before anything is spent. Does
/// nothing for an empty path.
void require_new_file(const std::string& path);
/// Writes the file with mode 0600. Throws Failure(io), whose message ends with `what_stays`.
void write_new_file(const std::string& path, const std::string& text, const std::string& what_stays);

}  // namespace nustream::console
