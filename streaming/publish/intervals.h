// Confidence intervals of a release, in original units: functions of what is private already.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "nustream/inference/interval.h"
#include "nustream/inference/sandwich.h"
#include "nustream/lane/lane.h"
#include "nustream/moments/lane.h"
#include "publish/original_units.h"

namespace nustream::publish {

/// Means of batches of consecutive iterates: BDE+ section 5.
struct BatchMeansIntervals {
  double level;
  bool two_stage = false;  ///< of a model with instruments: what its iterates gather around is another point
};
/// For the population parameter, linear loss: charged second moments.
struct SandwichIntervals {
  double level;
  inference::AverageDesign design;
};
/// From running sums: what their noise and sampling do to the solution (nustream/moments/interval.h).
struct MomentIntervals {
  double level;
  bool sandwich;  ///< the variance of the residuals may depend on the features
};
using IntervalKind = std::variant<BatchMeansIntervals, SandwichIntervals, MomentIntervals>;

/// The intervals of one release and what they are worth.
struct ShownIntervals {
  std::vector<inference::Interval> of;  ///< in the order of OriginalUnits::names()
  std::uint64_t steps;                  ///< effective number of steps: those that they are made of
  std::uint64_t through;                ///< the step that the last of them was
  std::uint64_t batches = 0;            ///< of batch means
  bool too_few;                         ///< fewer steps than the coverage needs (200)
};

/// What an interval covers, in a sentence.
[[nodiscard]] std::string_view coverage_statement(const IntervalKind& kind) noexcept;
/// "batch-means", "sandwich" or "residuals".
[[nodiscard]] std::string_view name(const IntervalKind& kind) noexcept;
[[nodiscard]] double level(const IntervalKind& kind) noexcept;

/// Nothing where the release has too little behind it for any: fewer than two batches, second moments that noise
/// hides, or an average that has not begun.
[[nodiscard]] std::optional<ShownIntervals> intervals_of(const IntervalKind& kind, const lane::Release& release,
                                                         const OriginalUnits& units);
/// Nothing where the release withholds its variances.
[[nodiscard]] std::optional<ShownIntervals> intervals_of(const MomentIntervals& kind, const moments::Release& release,
                                                         const OriginalUnits& units);

}  // namespace nustream::publish
