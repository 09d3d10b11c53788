// Keeps between m and 2m − 1 batches of iterates in O(m d) numbers, however long the stream is: when there are 2m of
// them, neighbours are merged. Intervals for the average are computed from their means.
#include "nustream/descent/batch_means.h"

#include <algorithm>
#include <bit>
#include <string>

#include "nustream/base/error.h"

namespace nustream::descent {

void check(const Batching& batching) {
  if (batching.batches < 2) throw InvalidParameter("batches", std::to_string(batching.batches), "at least two");
  if (batching.first_length == 0) throw InvalidParameter("batch_steps", "0", "at least one step");
}

BatchMeans::BatchMeans(const Batching& batching, std::size_t dimension)
    : batching_(batching), dimension_(dimension), length_(batching.first_length) {
  check(batching);
}

// Batches follow each other from `from` on, and all have the present length: earlier ones were merged to it.
StepCount BatchMeans::through() const noexcept {
  return StepCount{batching_.from + count() * length_};
}

StepCount BatchMeans::next_boundary() const noexcept {
  return StepCount{through().value() + length_};
}

void BatchMeans::close(std::span<const double> average) {
  NUSTREAM_REQUIRE(average.size() == dimension_, "a batch closes with the average over it");
  const std::size_t before = count();
  // (n + 1) times the average over all batches is the sum of their means. Without the earlier means it is the mean of
  // this batch.
  for (std::size_t j = 0; j < dimension_; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < before; ++i) sum += means_[i * dimension_ + j];
    means_.push_back(static_cast<double>(before + 1) * average[j] - sum);
  }
  if (count() < 2 * batching_.batches) return;
  // 2m batches become m of twice the length: the mean of two neighbours is that of their union.
  // With m = 2 and a first length of 64, for example, four batches of 64 steps become two of 128.
  for (std::size_t i = 0; i < batching_.batches; ++i) {
    for (std::size_t j = 0; j < dimension_; ++j) {
      means_[i * dimension_ + j] = 0.5 * (means_[2 * i * dimension_ + j] + means_[(2 * i + 1) * dimension_ + j]);
    }
  }
  means_.resize(batching_.batches * dimension_);
  length_ *= 2;
}

void BatchMeans::restore(std::uint64_t length, std::span<const double> means) {
  // Lengths are first_length times a power of two. From the first merge on there are always at least m batches.
  const bool doubled =
      length > 0 && length % batching_.first_length == 0 && std::has_single_bit(length / batching_.first_length);
  const std::size_t count = means.size() / dimension_;
  if (!doubled || means.size() % dimension_ != 0 || count >= 2 * batching_.batches ||
      (length > batching_.first_length && count < batching_.batches)) {
    throw InvalidParameter("batch_means", "batches that cannot be", "those of a state with these settings");
  }
  length_ = length;
  means_.assign(means.begin(), means.end());
}

}  // namespace nustream::descent
