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

/// What is seen, and how often as much is seen of a path that is settled.
struct PathStatus {
  Verdict verdict;
  /// Largest |t| over the coordinates: of the slope of ten means (8 degrees of freedom), and of the difference
  /// between the mean of the first half of the batches and that of the second.
  double trend;
  double halves;
  double ends;  ///< the same of the first or the last of the ten means against the nine others (8 degrees of freedom)
  /// Largest over the coordinates, of neighbouring batches, trend removed: how much of a batch the next one
  /// remembers.
  double lag_one;
  double
      false_alarm;  ///< probability of another verdict than `settled` for independent normal batches that are alike
};

/// `means`: batches × d, in order, of equal length. Fewer than ten say nothing: converging, and figures of 0. Each
/// of five tests has a fifth of `false_alarm`, divided among the coordinates (Bonferroni).
[[nodiscard]] PathStatus path_status(std::span<const double> means, std::size_t dimension, double false_alarm = 0.01);

/// Mean of the values and a Student interval for the long-run mean behind it where neighbours depend on each other as
/// in an autoregression of order one: with r their lag-one correlation, its bias of −(1 + 3r)/m put back, s²/m times
/// (1 + r)/(1 − r), and as many fewer degrees of freedom; as t_interval() where r is not positive. Nothing for fewer
/// than four values. Source: Bartlett 1946.
[[nodiscard]] std::optional<Interval> dependent_t_interval(std::span<const double> values, double level);

/// r̂ of neighbouring values about their mean; 0 where they are all equal.
[[nodiscard]] double lag_one_correlation(std::span<const double> values);

}  // namespace nustream::inference
