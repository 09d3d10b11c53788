// The second moments of a table's rows: all that least squares, and descents without clips, need of a table.
#pragma once

#include <Eigen/Core>

#include "nustream/inference/least_squares.h"

namespace nustream::inference {

/// Sums over the rows whose target is not NaN.
struct Moments {
  Eigen::MatrixXd gram;     ///< XᵀX, d × d
  Eigen::VectorXd targets;  ///< Xᵀy
};

/// Sums up the moments without copying any row.
[[nodiscard]] Moments moments_of(const TableView& table);

}  // namespace nustream::inference
