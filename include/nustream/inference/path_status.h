// Decides whether a descent has settled, from the means of consecutive batches of its iterates alone. These are
// functions of noisy gradients, and so of what is private already.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "nustream/inference/interval.h"

namespace nustream::inference {

/// What the path of a descent looks like.
enum class Verdict {
  settled,     ///< no movement is seen
  converging,  ///< too few batches to tell, batches that are too short, or a path that moves less and less
  drifting,    ///< the later half of the path moves like the earlier one
  diverged,    ///< a mean is not finite, the batches lie a hundred times further apart than at first, or the iterates
               ///< jump to and fro
};
/// The name of a verdict: "settled", "converging", "drifting" or "diverged".
[[nodiscard]] std::string_view name(Verdict verdict) noexcept;

/// Fewer batches do not show whether a path has settled.
inline constexpr std::size_t enough_batches = 32;

/// What the path shows, and how often a settled path would show as much by chance.
struct PathStatus {
  Verdict verdict;
  /// The largest |t| over the coordinates: `trend` for the slope of ten means (8 degrees of freedom), and `halves`
  /// for the difference between the means of the first and of the second half of the batches.
  double trend;
  double halves;
  double ends;  ///< likewise for the first or last of the ten means against the nine others (8 degrees of freedom)
  /// The largest ratio over the coordinates of the path's power at middling frequencies to that at high ones. It is
  /// about 1 for batches that are independent, and larger for batches that are shorter than the memory of the
  /// descent, 1/(ηλ).
  double memory;
  /// The probability of another verdict than `settled` for independent normal batches that are alike.
  double false_alarm;
  /// How much neighbouring iterates jump to and fro (inference/swing.h); empty where no iterates were looked at.
  std::optional<double> swing{};
};

/// The status of a path. `means` is batches × d, in order, from batches of equal length. Fewer than enough_batches
/// say nothing: the verdict is converging, and all figures are 0. The four tests of movement share a sixth of
/// `false_alarm` and the test of memory has the rest; each is divided among the coordinates (Bonferroni). The test of
/// memory uses no frequency that long_run_interval() uses, so that a path does not pass the test just because its
/// interval happens to be narrow.
[[nodiscard]] PathStatus path_status(std::span<const double> means, std::size_t dimension, double false_alarm = 0.06);

}  // namespace nustream::inference
