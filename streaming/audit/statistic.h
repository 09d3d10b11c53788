// One number made of a game's several likelihood ratios, by a rule that is fixed before the games that are judged.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include <Eigen/Core>

#include "audit/game.h"

namespace nustream::audit {

/// A linear form of the stages' log-ratios. Any form that is fixed beforehand gives a valid bound.
class Statistic {
 public:
  /// The statistic of one stage: where the noise is as claimed it is N(0, 1) in the world without the record and
  /// N(mu, 1) in the other.
  explicit Statistic(double mu);

  /// Finds the linear form that separates the worlds best (Fisher's discriminant), from the means and the covariance
  /// of what the stages show in `games` pilot games in each world. `play` plays the pilot games under other keys than
  /// those of the games that are judged. Where all is as claimed, the form is the sum of the log-ratios. A stage that
  /// lacks noise or moves too far, or two stages with the same noise, get more weight. The form has mean 0 and
  /// variance 1 in the world without the record. Throws Failure(configuration) where a game shows a value that is not
  /// finite, or no game shows the record.
  Statistic(std::size_t stages, std::size_t games, const std::function<std::span<const StageRatio>(World)>& play);

  [[nodiscard]] double of(std::span<const StageRatio> ratios) const;

 private:
  Eigen::VectorXd weights_;
  double origin_;
};

}  // namespace nustream::audit
