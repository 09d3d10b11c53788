// Eigenvalues of symmetric matrices. They are compiled once here, because the solver's templates take longer to
// compile than everything else.
#pragma once

#include <Eigen/Core>

namespace nustream::inference {

/// The decomposition V diag(λ) Vᵀ with rising λ.
struct SymmetricSpectrum {
  bool converged;
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;  ///< one eigenvector a column
};

/// The spectrum of a square matrix, of which only the lower triangle is read.
[[nodiscard]] SymmetricSpectrum symmetric_spectrum(const Eigen::MatrixXd& matrix);
/// The eigenvalues alone, rising.
[[nodiscard]] Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& matrix);

}  // namespace nustream::inference
