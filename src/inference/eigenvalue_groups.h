// Represents many eigenvalues by a few.
#pragma once

#include <vector>

namespace nustream::inference {

/// An eigenvalue and how many it represents.
struct EigenvalueGroup {
  double eigenvalue;
  double count;
};

/// Equal eigenvalues share a group. If there are more than 8 different ones, neighbours share a group at their
/// harmonic mean, because the loss of an average behaves like Σ 1/λ.
[[nodiscard]] std::vector<EigenvalueGroup> groups_of(std::vector<double> eigenvalues);

}  // namespace nustream::inference
