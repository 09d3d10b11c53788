// Visits the lines of a text or a file, and names the line in the message of a failure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <string>

#include <fmt/format.h>

#include "error.h"

namespace nustream {

/// Calls visit(line) without its newline for each line. A failure of it is thrown on as "NAME:NUMBER: …", with the
/// number of the line, from 1.
template <class Visit>
void for_each_numbered_line(std::istream& lines, const std::string& name, Visit visit) {
  std::uint64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    try {
      visit(line);
    } catch (const Failure& failure) {
      throw Failure(failure.code(), fmt::format("{}:{}: {}", name, number, failure.what()));
    }
  }
}

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

}  // namespace nustream
