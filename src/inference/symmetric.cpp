// Eigen's solver for symmetric matrices, and what is built on it: functions of a spectrum, one spectrum relative to
// another, and groups of neighbouring eigenvalues.
#include "inference/symmetric.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cstddef>

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
  // The comparison is false for a NaN, too.
  if (!(lengths.values(0) > 0)) return std::nullopt;
  const Eigen::VectorXd roots = lengths.values.cwiseSqrt();
  const Eigen::MatrixXd inverse = lengths.with(roots.cwiseInverse());
  return RelativeSpectrum{lengths.with(roots), inverse, lengths.values(0), symmetric_spectrum(inverse * s * inverse)};
}

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& matrix) {
  return Solver(matrix, Eigen::EigenvaluesOnly).eigenvalues();
}

std::vector<EigenvalueGroup> groups_of(std::vector<double> eigenvalues) {
  constexpr std::size_t most = 8;
  std::sort(eigenvalues.begin(), eigenvalues.end());
  std::vector<EigenvalueGroup> groups;
  for (const double value : eigenvalues) {
    if (!groups.empty() && groups.back().eigenvalue == value) {
      ++groups.back().count;
    } else {
      groups.push_back({value, 1});
    }
  }
  // Otherwise the sorted eigenvalues are cut into eight stretches of as equal length as possible.
  if (groups.size() <= most) return groups;
  groups.clear();
  for (std::size_t g = 0; g < most; ++g) {
    const std::size_t begin = g * eigenvalues.size() / most;
    const std::size_t end = (g + 1) * eigenvalues.size() / most;
    double inverses = 0;
    for (std::size_t i = begin; i < end; ++i) inverses += 1 / eigenvalues[i];
    const auto count = static_cast<double>(end - begin);
    // The harmonic mean of the stretch.
    groups.push_back({count / inverses, count});
  }
  return groups;
}

}  // namespace nustream::inference
