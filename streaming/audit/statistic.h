// One number of a game's several likelihood ratios, fixed before the games that count.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include <Eigen/Core>

#include "audit/game.h"

namespace nustream::audit {

/// A linear form of the stages' log-ratios. Any that is fixed beforehand gives a valid bound.
class Statistic {
 public:
  /// Of one stage with noise as claimed: N(0, 1) in the world without the record and N(mu, 1) in the other.
  explicit Statistic(double mu);

  /// From `games` pilot games in each world, which `play` plays under other keys than those that count: the linear
  /// form that tells the worlds best apart (Fisher), by the means and the covariance of what the stages really show.
  /// Where all is as claimed that is their sum; a stage that lacks noise or moves too far, or two whose noise is the
  /// same, come to the front. Standardised in the world without. Failure(configuration) where a game shows what is no
  /// number, or none shows the record.
  Statistic(std::size_t stages, std::size_t games, const std::function<std::span<const StageRatio>(World)>& play);

  [[nodiscard]] double of(std::span<const StageRatio> ratios) const;

 private:
  Eigen::VectorXd weights_;
  double origin_;
};

}  // namespace nustream::audit
