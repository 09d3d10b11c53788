// Covariance of an averaged linear descent about the population parameter, from private second moments.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"

namespace nustream::inference {

/// What a tail average was made with. All public.
struct AverageDesign {
  noise::Correlation correlation;
  NoiseStddev stddev;       ///< σΔ of the descent's own noise, gradient units of a sum
  StepSize step_size;       ///< constant
  double l2 = 0;            ///< λ
  std::uint64_t minibatch;  ///< m
  std::uint64_t from;       ///< steps before the average begins
  /// Records that there are, where they take part several times: no more of them enter the average than these.
  std::optional<std::uint64_t> records = {};
};

/// H⁻¹ S H⁻¹/n + V for the average of the iterates of steps from + 1, …, `steps`, n = m(steps − from) records, or all
/// that there are:
/// H = bread + λI, S = meat, both row-major d × d, and V the variance that the privacy noise leaves in the average,
/// exact for this B along the eigenvectors of H (averaged_noise_variance()). Row-major d × d.
///
/// It is about the population's least squares parameter: sampling and privacy, not the bias of clipping, of l2 or of
/// a start that is not forgotten. Nothing where H is not positive definite, or S has a negative variance in it: then
/// noise hides the second moments. Source: Polyak and Juditsky 1992, Theorem 2 (sampling); White 1980 (S).
[[nodiscard]] std::optional<std::vector<double>> average_covariance(std::span<const double> bread,
                                                                    std::span<const double> meat,
                                                                    const AverageDesign& design, StepCount steps);

}  // namespace nustream::inference
