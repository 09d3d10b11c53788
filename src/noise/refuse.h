// Throws InvalidParameter for a number; private to the noise room.
#pragma once

#include <sstream>
#include <string>

#include "nustream/base/error.h"

namespace nustream::noise {

/// A public setting that is out of range.
template <class Number>
[[noreturn]] void refuse(const std::string& name, Number value, const std::string& allowed) {
  std::ostringstream text;
  text.precision(17);
  text << value;
  throw InvalidParameter(name, text.str(), allowed);
}

}  // namespace nustream::noise
