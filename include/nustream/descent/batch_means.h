// Means of consecutive iterates in batches that grow with the stream. Intervals for an average are computed from
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nustream/base/units.h"

namespace nustream::descent {

/// Batches of equal length over the iterates that a tail average takes in. When there are 2m of them, neighbours are
/// merged and the length doubles. From the m-th batch on there are therefore always m to 2m − 1, however long the
/// stream is, and each becomes long enough to forget the one before.
struct Batching {
  std::uint64_t from = 0;           ///< steps before the first batch; the same as for the tail average
  std::uint64_t batches = 32;       ///< m ≥ 2
  std::uint64_t first_length = 64;  ///< steps of a batch at the beginning, ≥ 1
  /// Whether a state may be without batches, as states of the same settings of an earlier version are. A lane that
  /// goes on from such a state keeps none.
  bool may_lack = false;
  bool shown = true;  ///< whether releases have the batches
};

/// Throws InvalidParameter where there are fewer than two batches, or where they are empty.
void check(const Batching& batching);

/// The batch means of a run. They are a function of the iterates alone, and so of the noisy gradients:
/// post-processing.
class BatchMeans {
 public:
  /// An object before its first batch. Throws InvalidParameter as check() does.
  BatchMeans(const Batching& batching, std::size_t dimension);

  /// The step count at which the batch in progress is complete.
  [[nodiscard]] StepCount next_boundary() const noexcept;
  /// Closes the batch in progress. `average` is the tail average at next_boundary(). The mean of a batch is what the
  /// batch adds to the sum of all iterates, so no other sums have to be kept.
  void close(std::span<const double> average);

  [[nodiscard]] std::size_t count() const noexcept { return means_.size() / dimension_; }
  [[nodiscard]] std::uint64_t length() const noexcept { return length_; }
  /// The step count at which the last complete batch ends; `from` before there is one.
  [[nodiscard]] StepCount through() const noexcept;
  /// The means of all complete batches, count() × d, in order.
  [[nodiscard]] std::span<const double> means() const noexcept { return means_; }

  /// Goes on from what length() and means() gave. Throws InvalidParameter where these settings cannot lead to such
  /// batches.
  void restore(std::uint64_t length, std::span<const double> means);

 private:
  Batching batching_;
  std::size_t dimension_;
  std::uint64_t length_;
  std::vector<double> means_;
};

}  // namespace nustream::descent
