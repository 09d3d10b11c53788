#include "folder/window.h"

#include <algorithm>

namespace nustream::folder {

std::uint64_t Window::ordinal(std::uint64_t position) const noexcept {
  if (passes == 1 || !end || *end == first) return position;
  return first + (position - first) % (*end - first);
}

std::uint64_t Window::touched(std::uint64_t position) const noexcept {
  // The first pass ends at position `end`. Later passes touch no further records.
  return passes == 1 || !end ? position : std::min(position, *end);
}

}  // namespace nustream::folder
