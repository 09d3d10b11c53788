// Pairs of neighbouring iterates of a run at equal distances, however long the run is. Whether a descent has settled
// is judged by them where no batches of iterates are kept, and whether it jumps to and fro, which batches do not
// show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nustream/base/units.h"

namespace nustream::descent {

/// Which iterates are kept. It says nothing of how many: there are always as many as a judgement needs, and never
/// twice as many.
struct TrailSettings {
  std::uint64_t from = 0;  ///< steps before the first distance begins
  bool shown = true;       ///< whether releases have the iterates
};

/// The last two iterates of every stretch of `distance` steps. When there are 64 stretches, the pair of the first of
/// each two is dropped, and the distance doubles. The iterates are a function of the noisy gradients:
/// post-processing.
class Trail {
 public:
  static constexpr std::uint64_t first_distance = 64;
  static constexpr std::size_t kept = 32;                     ///< pairs that are left when some were dropped
  static constexpr std::size_t most_iterates = 4 * kept - 1;  ///< with one more, the distance doubles

  Trail(const TrailSettings& settings, std::size_t dimension) : from_(settings.from), dimension_(dimension) {}

  /// The step count at which pass() is to be called next: one step before the end of a stretch, and then at its end.
  [[nodiscard]] StepCount next() const noexcept;
  /// Keeps `theta`, the iterate at next().
  void pass(std::span<const double> theta);

  [[nodiscard]] std::uint64_t distance() const noexcept { return distance_; }
  [[nodiscard]] std::size_t pairs() const noexcept { return iterates_.size() / dimension_ / 2; }
  /// Every iterate in order, of d numbers each: twice pairs(), and one more between the two of a pair.
  [[nodiscard]] std::span<const double> iterates() const noexcept { return iterates_; }
  /// Without the one more.
  [[nodiscard]] std::span<const double> whole_pairs() const noexcept {
    return iterates().first(2 * pairs() * dimension_);
  }

  /// Goes on from what distance() and iterates() gave after `steps` steps. Throws InvalidParameter where there is no
  /// such trail.
  void restore(std::uint64_t distance, std::span<const double> iterates, StepCount steps);

 private:
  std::uint64_t from_;
  std::size_t dimension_;
  std::uint64_t distance_ = first_distance;
  std::vector<double> iterates_;
};

}  // namespace nustream::descent
