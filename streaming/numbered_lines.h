// Lines of a text, and where something is wrong with one.
#pragma once

#include <cstdint>
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

}  // namespace nustream
