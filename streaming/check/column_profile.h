// What the numbers of one column are like: range, mean, quantiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nustream::check {

/// A stream of numbers in little memory. Count, range, mean and standard deviation are exact (up to rounding);
/// quantiles are exact up to `sample_max` numbers, and those of a uniform sample of as many beyond: then a rank is
/// off by less than 1% of all with a probability of 1 - 2 exp(-2 · .01² · 65,536) = 1 - 4e-6 (Dvoretzky, Kiefer and
/// Wolfowitz, with Massart's constant). The sample's random numbers have a fixed seed: equal streams, equal figures.
/// Not private.
class ColumnProfile {
 public:
  static constexpr std::size_t sample_max = 65'536;

  /// A finite number.
  void add(double value);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Of what was added; NaN of nothing.
  [[nodiscard]] double smallest() const noexcept;
  [[nodiscard]] double largest() const noexcept;
  [[nodiscard]] double mean() const noexcept;
  /// With count − 1 in the denominator; 0 of one number.
  [[nodiscard]] double standard_deviation() const noexcept;
  /// The smallest number that at least a share `q` in [0, 1] of all does not exceed; NaN of nothing. Linear in the
  /// size of the sample.
  [[nodiscard]] double quantile(double q) const;
  [[nodiscard]] bool is_exact() const noexcept { return count_ <= sample_max; }

 private:
  [[nodiscard]] std::uint64_t random_below(std::uint64_t limit) noexcept;

  std::uint64_t count_ = 0;
  double smallest_ = 0;
  double largest_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // of the distances from the mean
  std::uint64_t random_ = 0x9e3779b97f4a7c15;
  std::vector<double> sample_;
};

}  // namespace nustream::check
