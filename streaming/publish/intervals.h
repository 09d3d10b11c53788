// What can be said of a release's estimate, as functions of what is private already: confidence intervals in original
// units, and whether the path has settled.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "nustream/inference/interval.h"
#include "nustream/inference/path_status.h"
#include "nustream/inference/runs_status.h"
#include "nustream/inference/sandwich.h"
#include "nustream/lane/lane.h"
#include "nustream/moments/lane.h"
#include "publish/json_writer.h"
#include "publish/original_units.h"

namespace nustream::publish {

/// Intervals from means of batches of consecutive iterates: BDE+ section 5.
struct BatchMeansIntervals {
  double level;
  bool two_stage = false;  ///< the model has instruments, so that its iterates gather around another point
};
/// Intervals for the population parameter of a linear loss, from charged second moments.
struct SandwichIntervals {
  double level;
  inference::AverageDesign design;
};
/// Intervals from running sums: what noise and sampling do to their solution (nustream/moments/interval.h).
struct MomentIntervals {
  double level;
  bool sandwich;         ///< the variance of the residuals may depend on the features
  bool forgets = false;  ///< older records fade from the sums
};
using IntervalKind = std::variant<BatchMeansIntervals, SandwichIntervals, MomentIntervals>;

/// The intervals of one release, and what they are worth.
struct ShownIntervals {
  std::vector<inference::Interval> of;  ///< in the order of OriginalUnits::names()
  std::uint64_t steps;                  ///< effective number of steps that they are made of
  std::uint64_t through;                ///< the last of those steps
  std::uint64_t batches = 0;            ///< number of batch means; 0 for other kinds
  bool too_few;                         ///< there are fewer steps than the coverage needs (200)
};

/// A sentence that says what an interval covers.
[[nodiscard]] std::string_view coverage_statement(const IntervalKind& kind) noexcept;
/// "batch-means", "sandwich" or "residuals".
[[nodiscard]] std::string_view name(const IntervalKind& kind) noexcept;
[[nodiscard]] double level(const IntervalKind& kind) noexcept;

/// The intervals of a release of iterates. Empty where there is too little for any: fewer than two batches, second
/// moments that noise hides, or an average that has not begun; and where its `status` says that the path moves.
[[nodiscard]] std::optional<ShownIntervals> intervals_of(const IntervalKind& kind, const lane::Release& release,
                                                         const std::optional<inference::PathStatus>& status,
                                                         const OriginalUnits& units);
/// The intervals of a release of running sums. Empty where the release withholds its variances.
[[nodiscard]] std::optional<ShownIntervals> intervals_of(const MomentIntervals& kind, const moments::Release& release,
                                                         const OriginalUnits& units);

/// The status of a release: of its batch means where there are any, else of its trail. Empty where the lane keeps
/// neither, or is not to tell. `diverged` where the iterate is not finite or the settings themselves overshoot.
[[nodiscard]] std::optional<inference::PathStatus> status_of(const lane::Release& release);

/// The status of the releases of one epoch, in their order. It is computed anew where a release has another batch or
/// another iterate than the one before. Not thread-safe.
class ReleaseStatus {
 public:
  /// status_of(release).
  [[nodiscard]] const std::optional<inference::PathStatus>& of(const lane::Release& release);

 private:
  using Seen = std::tuple<std::size_t, std::uint64_t, StepCount, bool>;
  std::optional<Seen> seen_{};
  std::optional<inference::PathStatus> status_{};
};

/// Whether an interval may be shown of a release with this status, that is, whether the path is not known to move.
[[nodiscard]] bool may_show_intervals(const lane::Release& release,
                                      const std::optional<inference::PathStatus>& status);

/// Writes "status":{"verdict":…}.
void append_status(const inference::PathStatus& status, JsonWriter& json);
void append_status(const moments::SumsStatus& status, JsonWriter& json);
void append_status(const inference::RunsStatus& status, JsonWriter& json);

/// A line's verdict as a sentence for people; "" for an empty verdict. `asks_interval`: an interval is asked for, of
/// which the sentence then says that it is withheld.
[[nodiscard]] std::string in_words(std::string_view verdict, bool asks_interval);
/// Whether the verdict says that what the line holds is no answer, or will not stay one.
[[nodiscard]] bool is_warning(std::string_view verdict) noexcept;

}  // namespace nustream::publish
