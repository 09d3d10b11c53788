// Second moments of a table's rows: all that least squares, and descents without clips, need of it.
#pragma once

#include <Eigen/Core>

#include "nustream/inference/least_squares.h"

namespace nustream::inference {

/// Sums over the rows whose target is not NaN.
struct Moments {
  Eigen::MatrixXd gram;     ///< XᵀX, d × d
  Eigen::VectorXd targets;  ///< Xᵀy
};

/// The rows stay where they are: none is copied.
[[nodiscard]] Moments moments_of(const TableView& table);

}  // namespace nustream::inference
