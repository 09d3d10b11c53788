// The coordinates that a fit works in: columns placed, then whitened by the pilot; and the way back.
#pragma once

#include <Eigen/Core>

#include <span>
#include <vector>

#include "nustream/ranges/columns.h"

namespace nustream::ranges {

/// W, symmetric, and its inverse: of noisy, floored second moments per record, W H W is about the identity.
struct Whitening {
  Eigen::MatrixXd whiten;
  Eigen::MatrixXd restore;
};
[[nodiscard]] Whitening no_whitening(std::size_t dimension);
/// U diag(max(e, λ)/n)^(−½) Uᵀ for H = U diag(e) Uᵀ, n its first entry (of the intercept), λ the floor. Directions
/// that noise hides count as long as the floor. Contract: finite.
[[nodiscard]] Whitening whitening_of(std::span<const double> second, std::size_t dimension, double floor);

/// Rows of original units for θ of working units: y = offset + scale·xᵀθ, x_0 = 1, x_j = (v_j − c_j)/s_j. Row-major
/// matrix A and offset of the first entry, so that θ_original = Aθ + (offset, 0, …).
struct WayBack {
  Eigen::MatrixXd matrix;
  double offset;
};
[[nodiscard]] WayBack way_back(std::span<const Placement> placements);

}  // namespace nustream::ranges
