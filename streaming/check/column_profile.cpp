// Count, range, mean and variance in one pass, and quantiles of a uniform sample (Vitter's reservoir).
#include "check/column_profile.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nustream::check {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

}  // namespace

/// splitmix64. The remainder's bias, limit/2^64, is far below what a sample of this size shows.
std::uint64_t ColumnProfile::random_below(std::uint64_t limit) noexcept {
  random_ += 0x9e3779b97f4a7c15;
  std::uint64_t z = random_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) % limit;
}

void ColumnProfile::add(double value) {
  smallest_ = count_ == 0 ? value : std::min(smallest_, value);
  largest_ = count_ == 0 ? value : std::max(largest_, value);
  ++count_;
  // Welford's recurrence: unlike a difference of large sums, it does not lose the digits of a small variance.
  const double before = value - mean_;
  mean_ += before / static_cast<double>(count_);
  squares_ += before * (value - mean_);
  if (sample_.size() < sample_max) {
    sample_.push_back(value);
    return;
  }
  // Vitter's algorithm R: each number so far is in the sample with the same probability.
  const std::uint64_t at = random_below(count_);
  if (at < sample_max) sample_[at] = value;
}

double ColumnProfile::smallest() const noexcept {
  return count_ == 0 ? none : smallest_;
}

double ColumnProfile::largest() const noexcept {
  return count_ == 0 ? none : largest_;
}

double ColumnProfile::mean() const noexcept {
  return count_ == 0 ? none : mean_;
}

double ColumnProfile::standard_deviation() const noexcept {
  if (count_ == 0) return none;
  return count_ == 1 ? 0 : std::sqrt(squares_ / static_cast<double>(count_ - 1));
}

double ColumnProfile::quantile(double q) const {
  if (sample_.empty()) return none;
  // The smallest number that at least a share q does not exceed has this rank, counted from 1.
  const double rank = std::ceil(q * static_cast<double>(sample_.size()));
  const auto index = static_cast<std::ptrdiff_t>(std::clamp(rank, 1.0, static_cast<double>(sample_.size()))) - 1;
  std::vector<double> sorted = sample_;
  std::nth_element(sorted.begin(), sorted.begin() + index, sorted.end());
  return sorted[static_cast<std::size_t>(index)];
}

}  // namespace nustream::check
