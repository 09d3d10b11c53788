// Reads the lines of a file, and tells at which of them something is wrong.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "error.h"
#include "numbered_lines.h"

namespace nustream::verify {

/// Calls visit(line) for each line of the file, without its newline. The file and the line number are added to the
/// message of what it throws. Throws Failure(io) where the file cannot be read.
template <class Visit>
void for_each_line(const std::string& file, Visit visit) {
  std::error_code unknown;
  std::ifstream lines(file, std::ios::binary);
  if (!std::filesystem::is_regular_file(file, unknown) || !lines) {
    throw Failure(Exit::io, file + ": cannot be read; name a file");
  }
  for_each_numbered_line(lines, file, visit);
}

}  // namespace nustream::verify
