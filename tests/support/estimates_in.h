// The numbers of releases, which no version may change.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace nustream::tests {

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

}  // namespace nustream::tests
