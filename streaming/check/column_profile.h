// Describes the numbers of one column: range, mean, quantiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nustream::check {

/// Describes a stream of numbers in little memory. Count, range, mean and standard deviation are exact up to
/// rounding.
///
/// Quantiles are exact up to `sample_max` numbers; beyond them they are those of a uniform sample of that size. A
/// rank is then off by less than 1% of all numbers with a probability of 1 - 2 exp(-2 · .01² · 65,536) = 1 - 4e-6
/// (Dvoretzky, Kiefer and Wolfowitz, with Massart's constant). The sample's random numbers have a fixed seed, so that
/// equal streams give equal figures. Nothing of a profile is private.
class ColumnProfile {
 public:
  static constexpr std::size_t sample_max = 65'536;

  /// Adds a number, which has to be finite.
  void add(double value);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Figures of the numbers added so far; NaN where there are none.
  [[nodiscard]] double smallest() const noexcept;
  [[nodiscard]] double largest() const noexcept;
  [[nodiscard]] double mean() const noexcept;
  /// The standard deviation with count − 1 in the denominator; 0 for one number.
  [[nodiscard]] double standard_deviation() const noexcept;
  /// The smallest number that at least a share `q` in [0, 1] of all numbers does not exceed; NaN where there are
  /// none. Takes time linear in the size of the sample.
  [[nodiscard]] double quantile(double q) const;
  [[nodiscard]] bool is_exact() const noexcept { return count_ <= sample_max; }

 private:
  [[nodiscard]] std::uint64_t random_below(std::uint64_t limit) noexcept;

  std::uint64_t count_ = 0;
  double smallest_ = 0;
  double largest_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // sum of the squared distances from the mean
  std::uint64_t random_ = 0x9e3779b97f4a7c15;
  std::vector<double> sample_;
};

}  // namespace nustream::check
