// Weights for the likelihood ratios of several stages, from pilot games (Fisher's linear discriminant). The pilots
// have keys of their own, so the weights are fixed before the games that are judged, and the bounds keep their
// confidence whatever the weights are.
#include "audit/statistic.h"

#include <cmath>

#include <Eigen/Dense>

#include "error.h"

namespace nustream::audit {
namespace {

struct Pilots {
  Eigen::MatrixXd log_ratios;   ///< one row a game, one column a stage
  Eigen::VectorXd information;  ///< mean over the games, one entry a stage
};

/// Plays the pilots of one world, and refuses where a value is not finite: no weights follow from those.
Pilots play_pilots(std::size_t stages, std::size_t games, World world,
                   const std::function<std::span<const StageRatio>(World)>& play) {
  const auto count = static_cast<Eigen::Index>(stages);
  Pilots pilots{Eigen::MatrixXd(static_cast<Eigen::Index>(games), count), Eigen::VectorXd::Zero(count)};
  for (auto row : pilots.log_ratios.rowwise()) {
    const auto ratios = play(world);
    for (Eigen::Index j = 0; j < count; ++j) {
      row(j) = ratios[static_cast<std::size_t>(j)].log_ratio;
      pilots.information(j) += ratios[static_cast<std::size_t>(j)].information / static_cast<double>(games);
    }
  }
  if (!pilots.log_ratios.allFinite() || !pilots.information.allFinite()) {
    throw Failure(Exit::configuration,
                  "audit: the iterates of a game are not finite: lower descent.step_size, and first_stage.step_size "
                  "where there is one; no claim depends on them");
  }
  return pilots;
}

}  // namespace

/// A log-ratio of N(∓μ²/2, μ²) becomes N(0, 1) or N(μ, 1).
Statistic::Statistic(double mu) : weights_(Eigen::VectorXd::Constant(1, 1 / mu)), origin_(mu / 2) {}

Statistic::Statistic(std::size_t stages, std::size_t games,
                     const std::function<std::span<const StageRatio>(World)>& play) {
  const Pilots without = play_pilots(stages, games, World::without, play);
  const Pilots with = play_pilots(stages, games, World::with, play);
  const Eigen::RowVectorXd mean = without.log_ratios.colwise().mean();
  const Eigen::MatrixXd centred = without.log_ratios.rowwise() - mean;
  Eigen::MatrixXd covariance = centred.transpose() * centred / static_cast<double>(games - 1);
  // Every stage gets this little variance more, so that the matrix can be inverted even where a stage has no noise. A
  // stage that the record does not move has neither mean nor noise; it gets 1, so that its weight becomes 0.
  constexpr double little = 1e-9;
  for (Eigen::Index i = 0; i < covariance.rows(); ++i) {
    covariance(i, i) += without.information(i) > 0 ? little * without.information(i) : 1;
  }
  weights_ = covariance.ldlt().solve((with.log_ratios.colwise().mean() - mean).transpose());
  const double spread = std::sqrt(weights_.dot(covariance * weights_));
  // The comparison is false for a NaN, too.
  if (!(spread > 0))
    throw Failure(Exit::configuration,
                  "audit: the record moves nothing that is released: clamp the columns less tightly, or lower the "
                  "clip norm");
  weights_ /= spread;
  // With this origin the statistic has mean 0 and variance 1 in the world without the record, as the thresholds want
  // it.
  origin_ = -mean.dot(weights_);
}

double Statistic::of(std::span<const StageRatio> ratios) const {
  double sum = origin_;
  for (std::size_t i = 0; i < ratios.size(); ++i) sum += weights_(static_cast<Eigen::Index>(i)) * ratios[i].log_ratio;
  return sum;
}

}  // namespace nustream::audit
