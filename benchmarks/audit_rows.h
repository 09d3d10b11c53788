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

/// The rows that a command line asks for: those that were named, or all of them where none was named.
using IsWanted = std::function<bool(std::string_view name)>;

/// The main function of a program that is called with a folder and perhaps names of rows. `play(folder, is_wanted)`
/// plays the wanted rows that the folder lacks, and returns whether all of them meet their bars.
inline int play_rows(
    int argc, char** argv,
    const std::function<bool(const std::filesystem::path& folder, const IsWanted& is_wanted)>& play) {
  if (argc < 2) return 64;
  const std::filesystem::path folder = argv[1];
  const std::vector<std::string> named(argv + 2, argv + argc);
  std::filesystem::create_directories(folder);
  const auto is_wanted = [&](std::string_view name) {
    return named.empty() || std::find(named.begin(), named.end(), name) != named.end();
  };
  return play(folder, is_wanted) ? 0 : 1;
}

}  // namespace nustream::benchmarks
