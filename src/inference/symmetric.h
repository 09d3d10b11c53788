// Eigenvalues of symmetric matrices, compiled once: the solver's templates take longer to compile than all else here.
#pragma once

#include <Eigen/Core>

namespace nustream::inference {

/// V diag(λ) Vᵀ, λ rising.
struct SymmetricSpectrum {
  bool converged;
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;  ///< one a column
};

/// Of the lower triangle of a square matrix.
[[nodiscard]] SymmetricSpectrum symmetric_spectrum(const Eigen::MatrixXd& matrix);
/// The eigenvalues alone, rising.
[[nodiscard]] Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& matrix);

}  // namespace nustream::inference
