// How strongly the instruments move the endogenous regressors, from private second moments.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nustream/descent/two_stage_loop.h"

namespace nustream::inference {

/// Of the first stage of a two-stage model; below about 10 the instruments are called weak.
struct FirstStageStrength {
  std::vector<double> f;  ///< partial F of the instruments beyond the controls, one for each endogenous regressor
  double cragg_donald;    ///< least eigenvalue over all regressors at once; for one regressor its F
};

/// From the mean of wwᵀ over `records` rows w = [z, x], row-major e × e, e = shape.row(). `stddev` is what privacy
/// noise adds to each entry of the mean (on the diagonal; √½ of it elsewhere).
///
/// Nothing where that noise may decide the answer: the least eigenvalue of the instruments' block, or of what it
/// leaves of the regressors, is below 2·stddev·√e, about the length of the noise matrix. A post-processing of a
/// charged release; the noise biases F towards weakness, as an error in z and x does.
///
/// Source: Stock and Yogo 2005 (the statistic of Cragg and Donald 1993).
[[nodiscard]] std::optional<FirstStageStrength> first_stage_strength(std::span<const double> second_moments,
                                                                     const descent::TwoStageShape& shape,
                                                                     std::uint64_t records, double stddev);

}  // namespace nustream::inference
