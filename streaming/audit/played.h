// What a game plays of the settings, and iterates read back from what it released.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "config/config.h"

namespace nustream::audit {

/// θ from coefficients in original units, which are an affine map of its first entries: of all but a first stage's
/// that are public, and not released.
class WorkingUnits {
 public:
  explicit WorkingUnits(const config::Config& config);
  [[nodiscard]] Eigen::VectorXd theta(const std::vector<std::pair<std::string, double>>& shown) const;

 private:
  Eigen::VectorXd origin_;
  Eigen::MatrixXd inverse_;
};

/// What is played: every step is released, with all of the second moments, and no iterate is projected. Of a topic's
/// records, what comes beside their values is a column among the others. No row depends on its time.
[[nodiscard]] config::Config as_played(config::Config config);

/// Of running sums, before as_played(): a step is one record, for what one adds to a step's sums does not depend on
/// how many others there are; a table that is one step stays it. Stages begin at the same steps, the sums are
/// released and the stages count alike, which nothing that is claimed depends on. Contract: config.moments is there.
[[nodiscard]] config::Config with_steps_of_one(config::Config config);

}  // namespace nustream::audit
