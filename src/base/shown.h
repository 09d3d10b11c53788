// Shows numbers in messages with 17 digits, so that any two different numbers look different.
#pragma once

#include <sstream>
#include <string>

#include "nustream/base/error.h"

namespace nustream {

[[nodiscard]] inline std::string shown(double value) {
  std::ostringstream text;
  text.precision(17);
  text << value;
  return text.str();
}

/// Refuses a public setting. All 17 digits are shown, so that a value just outside the range does not look like its
/// limit.
template <class Number>
[[noreturn]] void refuse(const std::string& name, Number value, const std::string& allowed) {
  std::ostringstream text;
  text.precision(17);
  text << value;
  throw InvalidParameter(name, text.str(), allowed);
}

}  // namespace nustream
