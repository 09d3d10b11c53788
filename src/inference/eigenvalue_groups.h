// Eigenvalues that stand for many.
#pragma once

#include <vector>

namespace nustream::inference {

/// An eigenvalue and how many it stands for.
struct EigenvalueGroup {
  double eigenvalue;
  double count;
};

/// Equal ones share a group; of more than 8 different ones neighbours do, at their harmonic mean: the loss of an
/// average goes like Σ 1/λ.
[[nodiscard]] std::vector<EigenvalueGroup> groups_of(std::vector<double> eigenvalues);

}  // namespace nustream::inference
