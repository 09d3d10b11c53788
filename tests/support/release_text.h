// Parts of releases and reports as their text has them.
#pragma once

#include <charconv>
#include <sstream>
#include <string>
#include <vector>

namespace nustream::tests {

/// The beginning of <data value="…">, up to the text that is shown.
inline std::string exact(double value) {
  char text[32];
  return "<data value=\"" + std::string(text, std::to_chars(text, text + sizeof text, value).ptr) + "\">";
}

/// The estimate of each line.
inline std::vector<std::string> estimates_in(const std::string& releases) {
  std::vector<std::string> estimates;
  std::istringstream lines(releases);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("\"estimate\":");
    estimates.push_back(at == std::string::npos ? line : line.substr(at, line.find('}', at) - at));
  }
  return estimates;
}

// A release without its place in the chain, to be compared with one of another run that released other lines before
// it.
inline std::string without_chain(const std::string& line) {
  const std::size_t at = line.find(",\"previous\":");
  return at == std::string::npos ? line : line.substr(0, at) + '}';
}

}  // namespace nustream::tests
