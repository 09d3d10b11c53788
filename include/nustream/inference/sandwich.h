// Variances of an averaged linear descent about the population parameter, from private second moments.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"

namespace nustream::inference {

/// What a tail average and the second moments beside it were made with. All of it is public.
struct AverageDesign {
  noise::Correlation correlation;  ///< the same in every stage
  NoiseStddev stddev;              ///< σΔ of the descent's own noise, gradient units of a sum
  StepSize step_size;              ///< constant
  double l2 = 0;                   ///< λ
  std::uint64_t minibatch;         ///< m
  std::uint64_t from;              ///< steps before the average and the means begin
  NoiseStddev bread_stddev;        ///< σΔ of the stage of the bread; meat_stddev is that of the meat
  NoiseStddev meat_stddev;
  /// How many records there are, where they take part several times: no more records than these enter the average.
  std::optional<std::uint64_t> records = {};
};

/// A variance that was itself estimated from noisy moments.
struct EstimatedVariance {
  double variance;
  /// 2/τ², where τ is the relative standard error of the variance by the noise of the moments (first order).
  /// Student's t with as many degrees of freedom makes up for that error. Infinite without noise. Source:
  /// Satterthwaite 1946.
  double degrees_of_freedom;
};

/// The variance of aᵀ(average) for each row a of `directions` (row-major, · × d): aᵀ(H⁻¹ S H⁻¹/n + V)a for the
/// average of the iterates of steps from + 1, …, `steps`. n is m(steps − from) records, or all that there are. H =
/// bread + λI and S = meat, both row-major d × d. V is the variance that the privacy noise leaves in the average,
/// exact for this B along the eigenvectors of H (averaged_noise_variance()).
///
/// It is about the least squares parameter of the population. It covers sampling and privacy, but not the bias of
/// clipping, of l2 or of a start that is not forgotten. Empty where the step size times the largest eigenvalue of H
/// is 2 or more, so that iterates diverge. Empty also where noise hides the second moments: where H is not positive
/// definite, or a variance is negative or has fewer than 8 degrees of freedom.
///
/// Source: Polyak and Juditsky 1992, Theorem 2 (sampling); White 1980 (S).
[[nodiscard]] std::optional<std::vector<EstimatedVariance>> average_variances(std::span<const double> bread,
                                                                              std::span<const double> meat,
                                                                              const AverageDesign& design,
                                                                              StepCount steps,
                                                                              std::span<const double> directions);

}  // namespace nustream::inference
