// Decides whether a stream's least squares stay the same, from differences of its noisy running sums alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/inference/path_status.h"
#include "nustream/moments/estimate.h"

namespace nustream::moments {

/// The noisy sums of the newest stage as they were after some of its steps.
struct Mark {
  std::vector<double> second;
  std::vector<double> cross;

  friend bool operator==(const Mark&, const Mark&) = default;
};

/// A stage is too short to be judged with fewer steps.
inline constexpr std::uint64_t enough_steps_of_a_stage = 4;
/// There are never more marks.
inline constexpr std::size_t marks_max = 7;

/// The steps from one mark to the next in a stage of `steps_of_stage` steps: the least power of two by which there
/// are at most marks_max marks.
[[nodiscard]] std::uint64_t mark_distance(std::uint64_t steps_of_stage) noexcept;
/// How many marks such a stage has: one after every mark_distance() steps.
[[nodiscard]] std::size_t mark_count(std::uint64_t steps_of_stage) noexcept;
/// Brings the marks of a stage's earlier steps up to its last step, after which its sums are `newest`.
void take_mark(const StageSums& newest, std::uint64_t steps_of_stage, std::vector<Mark>& marks);

/// What is seen of running sums, and how often as much would be seen of a stream whose records come in no order.
struct SumsStatus {
  inference::Verdict verdict;
  /// The squared distance between the least squares of a part of the newest stage and of all of it, in units of what
  /// noise and sampling leave of it, by coefficient: about 1 where nothing drifts. `halves` is of about the first
  /// half of the stage, and `ends` of about its first three quarters, from which the last one then stands apart.
  double halves = 0;
  double ends = 0;
  double false_alarm = 0.01;
};

/// The status of plain sums of a linear model after `steps` steps. `covariance` and `found` are those of the release,
/// and `marks` are the newest stage's.
///
/// Let H, g be the newest stage's sums, δ = H⁻¹g, and H_A, g_A its sums up to a mark. If the least squares are those
/// of all records alike, e = g_A − H_A δ is nothing but noise and sampling: to first order e = (I − W)u_A − W u_B
/// with W = H_A H⁻¹, where u = g − Hδ of each part has the variance that the noise of its sums is known to have, plus
/// its steps' share of the sampling that intervals count. Differences of noisy sums have noise of a known covariance
/// (StageNoise, as if a stage began at the mark). eᵀ Cov(e)⁻¹ e/d is compared with Fisher's F, whose second degrees
/// of freedom are those that the noise of the spread leaves (Satterthwaite, in the mean over the eigenvectors of
/// Cov(e)); each of the two comparisons has half of `false_alarm`.
///
/// The verdict is `drifting` where a comparison alarms, and `converging` where the stage is too short to be judged,
/// or noise hides its sums or the spread.
[[nodiscard]] SumsStatus sums_status(const RunningSums& sums, const Frame& frame, const StageNoise& noise,
                                     std::span<const Mark> marks, std::span<const double> covariance,
                                     const Estimate& found, StepCount steps, double false_alarm = 0.01);

}  // namespace nustream::moments
