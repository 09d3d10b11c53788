// One private release of moments over the rows of a part.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "nustream/moments/budget.h"
#include "nustream/moments/estimate.h"
#include "nustream/moments/running_sums.h"
#include "nustream/ranges/noise_draws.h"
#include "ranges/user_runs.h"

namespace nustream::ranges {

/// What is summed and how its ρ is divided. All of it is public, or a function of earlier releases.
struct PartDesign {
  moments::Design design;
  moments::Shares shares;
  Rho rho;
  moments::Radii radii;
  std::vector<double> centre;
  std::vector<KeyStage> stages;  ///< stages of the noised blocks, in their order
};

/// The sums with their noise, and what estimates need besides them.
struct PartSums {
  moments::RunningSums sums;
  moments::Frame frame;
};

/// Hands over one row: its inputs, its target (NaN for a row that cannot be used), and how much it counts.
using AddRow = std::function<void(std::span<const double> inputs, double target, double weight)>;

/// Hands over the rows of a part, and ends the turn of each user (Rows::each()).
using EachRow = std::function<void(const AddRow& add, const EndUser& end)>;

/// Makes one release, with γ = 1, over the rows that `rows` hands over. Guarantee: that of moments::calibrate(), at
/// `part.rho`. Where the design's neighbours differ in a user, what each user adds is shortened (UserSums), and there
/// must be no spread.
[[nodiscard]] PartSums sum_part(const PartDesign& part, const EachRow& rows, const DrawNoise& draw);

}  // namespace nustream::ranges
