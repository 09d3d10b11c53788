// Streams that were changed between a stop and a resume.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "replay_world.h"

namespace nustream::tests {

/// The records of a ReplayWorld's stream, with their newlines.
inline std::vector<std::string> lines_of(const std::string& csv) {
  std::vector<std::string> lines;
  for (std::size_t at = std::string_view("x,y\n").size(); at < csv.size();) {
    const std::size_t end = csv.find('\n', at) + 1;
    lines.push_back(csv.substr(at, end - at));
    at = end;
  }
  return lines;
}
/// A stream of these lines.
inline std::string joined(const std::vector<std::string>& lines) {
  std::string csv = "x,y\n";
  for (const std::string& line : lines) csv += line;
  return csv;
}

/// What may have become of a ReplayWorld's stream without the lane's knowledge. No variant holds the first 1,000
/// records as they were.
struct ChangedStream {
  const char* name;
  std::string csv;
};
inline std::vector<ChangedStream> changes(const std::string& csv) {
  const std::vector<std::string> lines = lines_of(csv);
  std::vector<std::string> prepended = lines_of(ReplayWorld::csv(500, 2));
  prepended.insert(prepended.end(), lines.begin(), lines.end());
  std::vector<std::string> sorted = lines;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> one_less(lines.begin() + 1, lines.end());
  std::vector<std::string> moved = lines;  // the last record that was read now stands behind those that were not
  std::rotate(moved.begin() + 999, moved.begin() + 1000, moved.end());
  return {{"prepended", joined(prepended)},
          {"sorted", joined(sorted)},
          {"another of the same length", ReplayWorld::csv(lines.size(), 3)},
          {"without its first", joined(one_less)},
          {"its last one elsewhere", joined(moved)},
          {"truncated", joined({lines.begin(), lines.begin() + 700})}};
}

}  // namespace nustream::tests
