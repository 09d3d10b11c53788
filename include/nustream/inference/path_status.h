// Whether a descent has settled, told by means of consecutive batches of its iterates alone: functions of noisy
// gradients, and so of what is private already.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "nustream/inference/interval.h"

namespace nustream::inference {

enum class Verdict {
  settled,     ///< nothing is seen to move
  converging,  ///< too few batches to tell, batches that are too short, or a path that moves less and less
  drifting,    ///< the later half of the path moves as the earlier one does
  diverged,    ///< a mean is not finite, or the batches lie a hundred times further apart than they began
};
/// "settled", "converging", "drifting", "diverged".
[[nodiscard]] std::string_view name(Verdict verdict) noexcept;

/// Fewer batches do not tell whether a path has settled.
inline constexpr std::size_t enough_batches = 32;

/// What is seen, and how often as much is seen of a path that is settled.
struct PathStatus {
  Verdict verdict;
  /// Largest |t| over the coordinates: of the slope of ten means (8 degrees of freedom), and of the difference
  /// between the mean of the first half of the batches and that of the second.
  double trend;
  double halves;
  double ends;  ///< the same of the first or the last of the ten means against the nine others (8 degrees of freedom)
  /// Largest over the coordinates: the power of the path at middling frequencies over that at high ones. It is about
  /// 1 of batches that are independent, and larger of batches that are shorter than what the descent remembers,
  /// 1/(ηλ).
  double memory;
  double
      false_alarm;  ///< probability of another verdict than `settled` for independent normal batches that are alike
};

/// `means`: batches × d, in order, of equal length. Fewer than enough_batches say nothing: converging, and figures of
/// 0. The four tests of movement share a sixth of `false_alarm` and the test of memory has the rest, each divided
/// among the coordinates (Bonferroni). The test of memory uses no frequency that long_run_interval() uses, so that a
/// path does not pass for having a narrow interval.
[[nodiscard]] PathStatus path_status(std::span<const double> means, std::size_t dimension, double false_alarm = 0.06);

}  // namespace nustream::inference
