// Measures from private second moments how strongly the instruments move the endogenous regressors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nustream/descent/two_stage_loop.h"

namespace nustream::inference {

/// Instruments are called weak below this F. Source: Staiger and Stock 1997.
constexpr double weak_first_stage = 10;

/// The strength of the first stage of a two-stage model. Each figure is a lower bound: what privacy noise may have
/// added is taken off.
struct FirstStageStrength {
  std::vector<double> f;  ///< partial F of the instruments beyond the controls, one for each endogenous regressor
  double cragg_donald;    ///< least eigenvalue over all regressors at once; for one regressor it is its F
};

/// The strength from the mean of wwᵀ over `records` rows w = [z, x], row-major e × e with e = shape.row(). `stddev`
/// is the standard deviation of the privacy noise of an entry of the mean, on the diagonal (√½ of it elsewhere).
///
/// Noise in the cross moments looks like strength. So (√(q − controls) + √regressors + 3.72) times its standard
/// deviation is taken off √F; 99.9% of draws do not exceed this amount (Gaussian concentration). The blocks are taken
/// at that end of their noise (2·stddev·√e, about the spectral norm of the noise matrix) which makes F smaller.
///
/// Empty where noise may decide whether the instruments are weak. This is so if the same allowances in the other
/// direction put a figure on the other side of 10, or if a block's least eigenvalue is below twice its noise. Rows
/// that could not be used are counted in `records` too. It is a post-processing of a charged release.
///
/// Source: Stock and Yogo 2005 (the statistic of Cragg and Donald 1993).
[[nodiscard]] std::optional<FirstStageStrength> first_stage_strength(std::span<const double> second_moments,
                                                                     const descent::TwoStageShape& shape,
                                                                     std::uint64_t records, double stddev);

}  // namespace nustream::inference
