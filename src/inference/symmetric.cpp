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

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& matrix) {
  return Solver(matrix, Eigen::EigenvaluesOnly).eigenvalues();
}

}  // namespace nustream::inference
