// One number of a game's several likelihood ratios, fixed before the games that count.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "audit/game.h"

namespace nustream::audit {

/// A linear form of the stages' log-ratios. Any that is fixed beforehand gives a valid bound.
class Statistic {
 public:
  /// Of one stage with noise as claimed: N(0, 1) in the world without the record and N(mu, 1) in the other.
  explicit Statistic(double mu);

  /// From pilot games in the world without (one row a game, one column a stage): the linear form that tells the
  /// worlds best apart (Fisher), by the covariance of what the stages really show. Where all is as claimed that is
  /// their sum; a stage that lacks noise, or two whose noise is the same, come to the front. Standardised in the
  /// world without. `information`: how far apart the worlds' means are.
  Statistic(const Eigen::MatrixXd& log_ratios, const Eigen::VectorXd& information);

  [[nodiscard]] double of(std::span<const StageRatio> ratios) const;

 private:
  Eigen::VectorXd weights_;
  double origin_;
};

}  // namespace nustream::audit
