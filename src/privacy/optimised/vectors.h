// Arithmetic of vectors in a fixed order, so that the bits do not depend on the compiler; private to the privacy
// room.
#pragma once

#include <cstddef>
#include <vector>

namespace nustream::privacy::optimised {

[[nodiscard]] inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace nustream::privacy::optimised
