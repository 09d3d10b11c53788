// The settings that a game plays, and how iterates are read back from what the game released.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "config/config.h"

namespace nustream::audit {

/// Computes θ from released coefficients in original units, which are an affine map of θ's first entries. It gives
/// all entries but those of a public first stage, which are not released.
class WorkingUnits {
 public:
  explicit WorkingUnits(const config::Config& config);
  [[nodiscard]] Eigen::VectorXd theta(const std::vector<std::pair<std::string, double>>& shown) const;

 private:
  Eigen::VectorXd origin_;
  Eigen::MatrixXd inverse_;
};

/// The settings that a game plays: every step is released, with all of the second moments, and no iterate is
/// projected. Where the settings read columns beside the values of a topic's records (such as the key), the records
/// become CSV with these columns among the others. No row depends on its time.
[[nodiscard]] config::Config as_played(config::Config config);

/// The same settings of running sums with `records` a step, because what a record or a user adds to a step's sums
/// does not depend on how many other records there are. A table that is one step stays one. Stages begin after as
/// many steps as before, the sums are released, and all stages count alike; no claim depends on these. Apply it
/// before as_played(). Contract: config.moments is there, and records > 0.
[[nodiscard]] config::Config with_steps_of(config::Config config, std::uint64_t records);

}  // namespace nustream::audit
