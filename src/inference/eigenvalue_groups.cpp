#include "inference/eigenvalue_groups.h"

#include <algorithm>
#include <cstddef>

namespace nustream::inference {

std::vector<EigenvalueGroup> groups_of(std::vector<double> eigenvalues) {
  constexpr std::size_t most = 8;
  std::sort(eigenvalues.begin(), eigenvalues.end());
  std::vector<EigenvalueGroup> groups;
  for (const double value : eigenvalues) {
    if (!groups.empty() && groups.back().eigenvalue == value) {
      ++groups.back().count;
    } else {
      groups.push_back({value, 1});
    }
  }
  if (groups.size() <= most) return groups;
  groups.clear();
  for (std::size_t g = 0; g < most; ++g) {
    const std::size_t begin = g * eigenvalues.size() / most;
    const std::size_t end = (g + 1) * eigenvalues.size() / most;
    double inverses = 0;
    for (std::size_t i = begin; i < end; ++i) inverses += 1 / eigenvalues[i];
    const auto count = static_cast<double>(end - begin);
    groups.push_back({count / inverses, count});
  }
  return groups;
}

}  // namespace nustream::inference
