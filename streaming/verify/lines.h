// The lines of a file, and where something is wrong with one.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "error.h"
#include "numbered_lines.h"

namespace nustream::verify {

/// Calls visit(line) without its newline for each line of the file; what it throws is told with file and line number.
/// Failure(io) where the file cannot be read.
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
