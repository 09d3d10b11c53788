// A release without its place in the chain, to be compared with one of another run that released other lines before
// it.
#pragma once

#include <string>

namespace nustream::tests {

inline std::string without_chain(const std::string& line) {
  const std::size_t at = line.find(",\"previous\":");
  return at == std::string::npos ? line : line.substr(0, at) + '}';
}

}  // namespace nustream::tests
