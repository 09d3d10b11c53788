// Statistical tests of the noise, each with a false-alarm rate of at most 1e-6 for a correct generator. The keys are
// fixed, so that a test that passes once passes always; the rate is the chance that it would fail with another key.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace nustream::testing {

/// P(|N(0, 1)| > 4.892) = 1e-6.
inline constexpr double deviations_allowed = 4.892;
/// P(sup |empirical − true| > 2.694/√n) = 2 exp(−2·2.694²) = 1e-6 (Kolmogorov).
inline constexpr double kolmogorov_allowed = 2.694;

/// How many samples to draw: 1e7 in the full tier, 2e8 where NUSTREAM_CAMPAIGN=1.
inline std::uint64_t samples_to_draw() {
  const char* const campaign = std::getenv("NUSTREAM_CAMPAIGN");
  return campaign != nullptr && campaign[0] == '1' ? 200'000'000 : 10'000'000;
}

/// Q(x) = P(N(0, 1) > x).
inline double normal_tail(double x) {
  return 0.5 * std::erfc(x / std::sqrt(2.0));
}

/// min(1, 2 min(P(X ≤ count), P(X ≥ count))) for a Poisson X with mean λ, by sums from `count` outwards.
inline double poisson_p_value(std::uint64_t count, double lambda) {
  const double k = static_cast<double>(count);
  const double probability = std::exp(k * std::log(lambda) - lambda - std::lgamma(k + 1));
  double at_or_below = 0;
  double term = probability;
  for (double i = k; i >= 0 && term > 1e-300; --i) {
    at_or_below += term;
    term *= i / lambda;
  }
  double at_or_above = 0;
  term = probability;
  for (double i = k; term > 1e-300 && (i <= lambda || term > 1e-18 * at_or_above); ++i) {
    at_or_above += term;
    term *= lambda / (i + 1);
  }
  return std::fmin(1, 2 * std::fmin(at_or_below, at_or_above));
}

/// The sum of products of pairs, in units of its standard deviation under independence.
class ProductSum {
 public:
  void add(double x, double y) {
    sum_ += x * y;
    ++count_;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double deviations() const { return sum_ / std::sqrt(static_cast<double>(count_)); }

 private:
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace nustream::testing
