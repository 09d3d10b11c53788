// Shows numbers in messages with every digit that tells two of them apart.
#pragma once

#include <sstream>
#include <string>

namespace nustream {

[[nodiscard]] inline std::string shown(double value) {
  std::ostringstream text;
  text.precision(17);
  text << value;
  return text.str();
}

}  // namespace nustream
