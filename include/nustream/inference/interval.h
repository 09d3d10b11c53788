// Two-sided confidence intervals from values that are private already. They are post-processing.
#pragma once

#include <optional>
#include <span>

namespace nustream::inference {

struct Interval {
  double center;
  double half_width;
  [[nodiscard]] double lower() const noexcept { return center - half_width; }
  [[nodiscard]] double upper() const noexcept { return center + half_width; }
};

/// The quantile t_{df, (1 + level)/2}; for example t_{9, .975} = 2.262. It is that of the normal distribution for
/// infinite df. Throws InvalidParameter for df ≤ 0 or a level outside (0, 1).
[[nodiscard]] double student_quantile(double degrees_of_freedom, double level);
/// The quantile z_{(1 + level)/2}; for example 1.960 at .95. Throws InvalidParameter for a level outside (0, 1).
[[nodiscard]] double normal_quantile(double level);

/// The mean of m ≥ 2 values ψ_ℓ ± t_{m−1} s/√m with s² = Σ(ψ_ℓ − ψ̄)²/(m − 1). Empty for fewer values.
///
/// The ψ are the finals of independent runs, checkpoints of one run, means of the last iterates of either, or means
/// of batches of consecutive iterates. The interval covers what the iterates gather around, θ̂ of the clipped loss on
/// these data, and not the population parameter. It covers too seldom where the values still depend on each other.
///
/// Source: BDE+ section 5; section 3.1 and appendix B for means of last iterates.
[[nodiscard]] std::optional<Interval> t_interval(std::span<const double> values, double level);

}  // namespace nustream::inference
