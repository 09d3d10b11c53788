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
/// asks of every row whether it is wanted, plays the wanted ones that the folder lacks, and returns whether all of
/// them meet their bars. Returns 64 where a name was given that is no row's.
inline int play_rows(
    int argc, char** argv,
    const std::function<bool(const std::filesystem::path& folder, const IsWanted& is_wanted)>& play) {
  if (argc < 2) return 64;
  const std::filesystem::path folder = argv[1];
  const std::vector<std::string> named(argv + 2, argv + argc);
  std::filesystem::create_directories(folder);
  std::vector<std::string> rows;
  const auto is_wanted = [&](std::string_view name) {
    rows.emplace_back(name);
    return named.empty() || std::find(named.begin(), named.end(), name) != named.end();
  };
  const bool all_met = play(folder, is_wanted);
  for (const std::string& name : named) {
    if (std::find(rows.begin(), rows.end(), name) != rows.end()) continue;
    fmt::print(stderr, "no row is called '{}'; there are {}\n", name, fmt::join(rows, ", "));
    return 64;
  }
  return all_met ? 0 : 1;
}

}  // namespace nustream::benchmarks
