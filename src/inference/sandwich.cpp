#include "nustream/inference/sandwich.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

#include "nustream/base/error.h"
#include "nustream/inference/average_noise.h"

namespace nustream::inference {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix square_matrix(std::span<const double> entries) {
  const auto d = static_cast<Eigen::Index>(std::llround(std::sqrt(static_cast<double>(entries.size()))));
  NUSTREAM_REQUIRE(static_cast<std::size_t>(d * d) == entries.size(), "a square matrix has d × d entries");
  return Eigen::Map<const Matrix>(entries.data(), d, d);
}

}  // namespace

std::optional<std::vector<double>> average_covariance(std::span<const double> bread, std::span<const double> meat,
                                                      const AverageDesign& design, StepCount steps) {
  Matrix hessian = square_matrix(bread);
  const Matrix scores = square_matrix(meat);
  hessian.diagonal().array() += design.l2;
  if (!hessian.allFinite() || !scores.allFinite() || steps.value() <= design.from) return std::nullopt;
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(hessian);
  if (eigen.info() != Eigen::Success || !(eigen.eigenvalues()(0) > 0)) return std::nullopt;

  const Matrix basis = eigen.eigenvectors();
  const auto m = static_cast<double>(design.minibatch);
  std::uint64_t records = design.minibatch * (steps.value() - design.from);
  if (design.records) records = std::min(records, *design.records);
  Eigen::VectorXd noise(hessian.rows());
  for (Eigen::Index j = 0; j < noise.size(); ++j) {
    const double stddev = design.stddev.value() / m;
    noise(j) = stddev * stddev *
               averaged_noise_variance(design.correlation, {design.step_size.value(), eigen.eigenvalues()(j),
                                                            design.from, steps.value()});
  }
  const Matrix inverse = basis * eigen.eigenvalues().cwiseInverse().asDiagonal() * basis.transpose();
  const Matrix sampling = inverse * scores * inverse / static_cast<double>(records);
  if (!((sampling.diagonal().array() >= 0).all())) return std::nullopt;
  const Matrix covariance = sampling + Matrix(basis * noise.asDiagonal() * basis.transpose());
  return std::vector<double>(covariance.data(), covariance.data() + covariance.size());
}

}  // namespace nustream::inference
