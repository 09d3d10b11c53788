// A number as pages and reports show it: its exact value beside what people read.
#pragma once

#include <charconv>
#include <string>

namespace nustream::tests {

/// The beginning of <data value="…">, up to the text that is shown.
inline std::string exact(double value) {
  char text[32];
  return "<data value=\"" + std::string(text, std::to_chars(text, text + sizeof text, value).ptr) + "\">";
}

}  // namespace nustream::tests
