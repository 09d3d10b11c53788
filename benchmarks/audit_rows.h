// Rows of a table of audits, each of which is a file of its own: an interrupted campaign plays only those that are
// missing.
#pragma once

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace nustream::benchmarks {

/// The text of the row in `file`. A row that is not there is played, written and printed first.
inline std::string played_once(const std::filesystem::path& file, const std::function<std::string()>& play) {
  if (!std::filesystem::exists(file)) {
    const std::string played = play();
    std::ofstream(file) << played << '\n';
    fmt::print("{}\n", played);
    std::fflush(stdout);
  }
  std::string text;
  std::ifstream in(file);
  std::getline(in, text);
  return text;
}

[[nodiscard]] inline bool is_met(std::string_view row) {
  return row.find("\"met\": true") != std::string_view::npos;
}

/// Whether the row is among those that were named; all rows are where none was named.
[[nodiscard]] inline bool is_wanted(const std::vector<std::string>& wanted, std::string_view name) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

}  // namespace nustream::benchmarks
