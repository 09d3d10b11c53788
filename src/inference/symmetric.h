// Eigenvalues of symmetric matrices. They are compiled once here, because the solver's templates take longer to
// compile than everything else.
#pragma once

#include <Eigen/Core>

#include <optional>
#include <vector>

namespace nustream::inference {

/// The decomposition V diag(λ) Vᵀ with rising λ.
struct SymmetricSpectrum {
  bool converged;
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;  ///< one eigenvector a column

  /// V diag(λ′) Vᵀ: the same eigenvectors with other eigenvalues.
  [[nodiscard]] Eigen::MatrixXd with(const Eigen::VectorXd& other) const;
};

/// The spectrum of a square matrix, of which only the lower triangle is read.
[[nodiscard]] SymmetricSpectrum symmetric_spectrum(const Eigen::MatrixXd& matrix);
/// The spectrum of H^(−½) S H^(−½), with both roots of H.
struct RelativeSpectrum {
  Eigen::MatrixXd root;     ///< H^½
  Eigen::MatrixXd inverse;  ///< H^(−½)
  double smallest;          ///< λ_min(H)
  SymmetricSpectrum spectrum;
};
/// The spectrum of S relative to H; empty where H is not positive definite.
[[nodiscard]] std::optional<RelativeSpectrum> relative_spectrum(const Eigen::MatrixXd& s, const Eigen::MatrixXd& h);
/// The eigenvalues alone, rising.
[[nodiscard]] Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& matrix);

/// An eigenvalue and how many it represents.
struct EigenvalueGroup {
  double eigenvalue;
  double count;
};

/// Equal eigenvalues share a group. If there are more than 8 different ones, neighbours share a group at their
/// harmonic mean, because the loss of an average behaves like Σ 1/λ.
[[nodiscard]] std::vector<EigenvalueGroup> groups_of(std::vector<double> eigenvalues);

}  // namespace nustream::inference
