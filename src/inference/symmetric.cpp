#include "inference/symmetric.h"

#include <Eigen/Eigenvalues>

namespace nustream::inference {
namespace {

using Solver = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;

}  // namespace

SymmetricSpectrum symmetric_spectrum(const Eigen::MatrixXd& matrix) {
  const Solver solver(matrix);
  return {solver.info() == Eigen::Success, solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::MatrixXd SymmetricSpectrum::with(const Eigen::VectorXd& other) const {
  return vectors * other.asDiagonal() * vectors.transpose();
}

std::optional<RelativeSpectrum> relative_spectrum(const Eigen::MatrixXd& s, const Eigen::MatrixXd& h) {
  const SymmetricSpectrum lengths = symmetric_spectrum(h);
  if (!(lengths.values(0) > 0)) return std::nullopt;
  const Eigen::VectorXd roots = lengths.values.cwiseSqrt();
  const Eigen::MatrixXd inverse = lengths.with(roots.cwiseInverse());
  return RelativeSpectrum{lengths.with(roots), inverse, lengths.values(0), symmetric_spectrum(inverse * s * inverse)};
}

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& matrix) {
  return Solver(matrix, Eigen::EigenvaluesOnly).eigenvalues();
}

}  // namespace nustream::inference
