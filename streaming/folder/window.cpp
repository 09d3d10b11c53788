// Positions of several passes, as ordinals: with the window [10, 20), position 23 is record 13, in the second pass.
#include "folder/window.h"

#include <algorithm>

namespace nustream::folder {

std::uint64_t Window::ordinal(std::uint64_t position) const noexcept {
  // An empty window has no record to divide by, and one pass has positions that are ordinals already.
  if (passes == 1 || !end || *end == first) return position;
  return first + (position - first) % (*end - first);
}

std::uint64_t Window::touched(std::uint64_t position) const noexcept {
  // The first pass ends at position `end`. Later passes touch no further records.
  return passes == 1 || !end ? position : std::min(position, *end);
}

}  // namespace nustream::folder
