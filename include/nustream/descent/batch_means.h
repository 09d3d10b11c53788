// Means of consecutive iterates in batches that grow with the stream: what intervals for an average are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nustream/base/units.h"

namespace nustream::descent {

/// Batches of equal length over the iterates that a tail average takes in. When there are 2m of them, neighbours are
/// merged and the length doubles: from the m-th batch on there are always m to 2m − 1, however long the stream, each
/// long enough to forget the one before.
struct Batching {
  std::uint64_t from = 0;           ///< steps before the first batch, those of the tail average
  std::uint64_t batches = 32;       ///< m ≥ 2
  std::uint64_t first_length = 64;  ///< steps of a batch to begin with, ≥ 1
};

/// Throws InvalidParameter where there are fewer than two batches, or they are empty.
void check(const Batching& batching);

/// A function of the iterates alone, and so of the noisy gradients: post-processing.
class BatchMeans {
 public:
  /// Before its first batch. Throws InvalidParameter as check() does.
  BatchMeans(const Batching& batching, std::size_t dimension);

  /// The step count at which the batch in progress is complete.
  [[nodiscard]] StepCount next_boundary() const noexcept;
  /// Closes the batch in progress. `average` is the tail average at next_boundary(): the mean of a batch is what it
  /// adds to the sum of all.
  void close(std::span<const double> average);

  [[nodiscard]] std::size_t count() const noexcept { return means_.size() / dimension_; }
  [[nodiscard]] std::uint64_t length() const noexcept { return length_; }
  /// The step count that the last complete batch goes to; `from` before there is one.
  [[nodiscard]] StepCount through() const noexcept;
  /// count() × d, in order.
  [[nodiscard]] std::span<const double> means() const noexcept { return means_; }

  /// Goes on from what length() and means() gave. Throws InvalidParameter where no such batches can be.
  void restore(std::uint64_t length, std::span<const double> means);

 private:
  Batching batching_;
  std::size_t dimension_;
  std::uint64_t length_;
  std::vector<double> means_;
};

}  // namespace nustream::descent
