#include "audit/statistic.h"

#include <cmath>

#include <Eigen/Dense>

namespace nustream::audit {

Statistic::Statistic(double mu) : weights_(Eigen::VectorXd::Constant(1, 1 / mu)), origin_(mu / 2) {}

Statistic::Statistic(const Eigen::MatrixXd& log_ratios, const Eigen::VectorXd& information) {
  const Eigen::RowVectorXd mean = log_ratios.colwise().mean();
  const Eigen::MatrixXd centred = log_ratios.rowwise() - mean;
  Eigen::MatrixXd covariance = centred.transpose() * centred / static_cast<double>(log_ratios.rows() - 1);
  // No noise at all is taken for very little. A stage that the record does not move has neither mean nor noise.
  constexpr double little = 1e-9;
  for (Eigen::Index i = 0; i < information.size(); ++i) {
    covariance(i, i) += information(i) > 0 ? little * information(i) : 1;
  }
  weights_ = covariance.ldlt().solve(information);
  weights_ /= std::sqrt(weights_.dot(covariance * weights_));
  origin_ = -mean.dot(weights_);
}

double Statistic::of(std::span<const StageRatio> ratios) const {
  double sum = origin_;
  for (std::size_t i = 0; i < ratios.size(); ++i) sum += weights_(static_cast<Eigen::Index>(i)) * ratios[i].log_ratio;
  return sum;
}

}  // namespace nustream::audit
