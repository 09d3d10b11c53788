// Decides whether a descent jumps to and fro between two places, from pairs of neighbouring iterates. Means of many
// iterates do not show that.
#pragma once

#include <cstddef>
#include <span>

#include "nustream/inference/path_status.h"

namespace nustream::inference {

/// What pairs of neighbouring iterates show.
struct Swing {
  /// The largest ratio over the coordinates of the variance of the pairs' differences to that of their sums. It is
  /// (1 − r)/(1 + r) for neighbours with the correlation r: 0 for a slow descent, 1 for independent values, and
  /// without bound where a descent jumps to and fro. It is 0 for iterates that stand still, and for fewer pairs than
  /// enough_batches.
  double ratio = 0;
  bool is_seen = false;
};

/// The ratio of neighbours with the correlation −3/4. Those of a descent that settles are not more opposite, where
/// its steps go beyond the minimum by half of their way at most (ηλ ≤ 3/2), even if noise takes back what was added
/// before.
inline constexpr double swing_that_settles = 7;

/// `pairs` is pairs × 2 × d, in order, from pairs that lie far apart. For p independent pairs of normal values with
/// the ratio `most` or a smaller one, `is_seen` is true with the probability `false_alarm` at most: the ratio is then
/// `most` times Fisher's F with p and p − 1 degrees of freedom. The probability is divided among the coordinates
/// (Bonferroni).
[[nodiscard]] Swing swing_of(std::span<const double> pairs, std::size_t dimension, double false_alarm,
                             double most = swing_that_settles);

/// The status of a path of which `pairs` of iterates are known beside the means of batches: that of path_status(),
/// and `diverged` where the pairs swing. The test of swings has a sixtieth of `false_alarm`, and path_status() the
/// rest.
[[nodiscard]] PathStatus swinging_status(std::span<const double> means, std::span<const double> pairs,
                                         std::size_t dimension, double false_alarm = 0.06);

}  // namespace nustream::inference
