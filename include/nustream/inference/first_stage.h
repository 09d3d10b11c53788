// How strongly the instruments move the endogenous regressors, from private second moments.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nustream/descent/two_stage_loop.h"

namespace nustream::inference {

/// Below, instruments are called weak. Source: Staiger and Stock 1997.
constexpr double weak_first_stage = 10;

/// Of the first stage of a two-stage model, each at least this large: what privacy noise may have added is taken off.
struct FirstStageStrength {
  std::vector<double> f;  ///< partial F of the instruments beyond the controls, one for each endogenous regressor
  double cragg_donald;    ///< least eigenvalue over all regressors at once; for one regressor its F
};

/// From the mean of wwᵀ over `records` rows w = [z, x], row-major e × e, e = shape.row(). `stddev` is what privacy
/// noise adds to each entry of the mean (on the diagonal; √½ of it elsewhere).
///
/// Noise in the cross moments looks like strength: of √F at most (√(q − controls) + √regressors + 3.72) times its
/// standard deviation is taken off, which 99.9% of draws do not exceed (Gaussian concentration), and the blocks are
/// taken at the end of their noise (2·stddev·√e, about the length of the noise matrix) that makes F smaller. Nothing
/// where noise may decide whether the instruments are weak: the same allowances the other way put a figure on the
/// other side of 10, or a block's least eigenvalue is below twice its noise. Rows that could not be used count as
/// `records`. A post-processing of a charged release.
///
/// Source: Stock and Yogo 2005 (the statistic of Cragg and Donald 1993).
[[nodiscard]] std::optional<FirstStageStrength> first_stage_strength(std::span<const double> second_moments,
                                                                     const descent::TwoStageShape& shape,
                                                                     std::uint64_t records, double stddev);

}  // namespace nustream::inference
