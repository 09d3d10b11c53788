// The user's side of generalised linear models in non-interactive local privacy: one record to one noisy report.
// Source: Wang, Zhang, Gaboardi and Xu ("NLDP"), Algorithm 1, lines 1 to 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nustream/base/units.h"
#include "nustream/inference/local_bounds.h"
#include "nustream/noise/grid.h"

namespace nustream::inference {

/// How the noise's standard deviations follow from ε and δ.
enum class LocalCalibration {
  exact,  ///< the whole report as one Gaussian mechanism, by its exact curve
  paper,  ///< the paper's constants: 32 r⁴ ln(2.5/δ)/ε² and 32 r²Y² ln(2.5/δ)/ε²
};

/// What one report may cost the person who sends it, and how that is divided between its parts.
struct LocalBudget {
  Epsilon epsilon;
  Delta delta;
  LocalCalibration calibration = LocalCalibration::exact;
  LocalNorm norm = LocalNorm::l1;
  double split = 0.5;  ///< share of μ² that x xᵀ would have if the parts were released apart; in (0, 1)
};

/// Standard deviations of the noise of one report.
struct LocalNoise {
  NoiseStddev second_moment;  ///< of each of the p(p+1)/2 entries of the upper triangle, independent
  NoiseStddev cross_moment;   ///< of each of the p entries of x(y − centre), independent
};

/// The noise that `budget` asks for, before any rounding.
///
/// exact: the smallest multiple of (Δ_1/√split, Δ_2/√(1−split)) at which (ε, δ) holds for the stacked report, by
/// local_mu() and the exact Gaussian curve. paper: the literal constants, whatever they come to.
///
/// Throws InvalidParameter for ε = 0, a split outside (0, 1), or the paper's constants with another norm than l1, or
/// with a split (they are halves of ε and δ).
[[nodiscard]] LocalNoise local_noise(const LocalBounds& bounds, const LocalBudget& budget);

/// p(p+1)/2 + p: numbers in a report of p features.
[[nodiscard]] constexpr std::size_t local_report_size(std::size_t dimension) noexcept {
  return dimension * (dimension + 1) / 2 + dimension;
}

/// One record to one report: (x xᵀ, x(y − centre)) plus Gaussian noise, as integers on public grids.
///
/// A report is (ε, δ)-differentially private with respect to any change of its record. It is one draw: a second
/// report of the same record spends again, so whoever sends reports keeps them and sends the same one.
///
/// The parts are rounded to the nearest multiple of a spacing of about 2^-32 noise standard deviations, and so is the
/// noise, which are added as integers: floating point leaks nothing of what was added. Rounding may move two records'
/// reports apart by less than 2^-31 √(p(p+1)/2 + p) standard deviations, which the noise is calibrated for.
class LocalMechanism {
 public:
  /// Throws InvalidParameter as check() and local_noise() do; where the noise is less than 2^-18 of what it hides, or
  /// ε so small that rounding would be seen; and where the paper's constants do not hold the ε and δ that they are
  /// named for, by the exact curve (as at large ε).
  LocalMechanism(const LocalBounds& bounds, const LocalBudget& budget);

  [[nodiscard]] const LocalBounds& bounds() const noexcept { return bounds_; }
  [[nodiscard]] const LocalBudget& budget() const noexcept { return budget_; }
  [[nodiscard]] const LocalNoise& noise() const noexcept { return noise_; }
  /// μ of one report, the rounding included.
  [[nodiscard]] double mu() const noexcept { return mu_; }
  /// ε at the budget's δ by the exact curve: what one report really costs, at most the budget's.
  [[nodiscard]] Epsilon epsilon() const;

  /// Grid spacings of the two parts: powers of two.
  [[nodiscard]] double second_moment_spacing() const noexcept { return second_moment_grid_.spacing(); }
  [[nodiscard]] double cross_moment_spacing() const noexcept { return cross_moment_grid_.spacing(); }
  /// The largest number, in units of the grid, that a report can hold: what exceeds it was not made here. A sample of
  /// the noise ends at 9.5 standard deviations (noise/gaussian.h).
  [[nodiscard]] std::int64_t second_moment_limit() const noexcept { return second_moment_limit_; }
  [[nodiscard]] std::int64_t cross_moment_limit() const noexcept { return cross_moment_limit_; }

  /// Numbers in a report.
  [[nodiscard]] std::size_t report_size() const noexcept { return local_report_size(bounds_.dimension); }
  /// Uniform 64-bit words that one report's noise is made of.
  [[nodiscard]] std::size_t words() const noexcept { return (report_size() + 1) / 2 * 2; }

  /// Writes the report of (x, y) to `report`: x xᵀ's upper triangle row by row, diagonal included, then x(y −
  /// centre). Projects first, `x` in place. `words` are fresh random bits, used for this report alone, and its
  /// secret: whoever knows them knows the record. They are overwritten.
  Projected randomize(std::span<double> x, double y, std::span<std::uint64_t> words,
                      std::span<std::int64_t> report) const;

 private:
  LocalBounds bounds_;
  LocalBudget budget_;
  LocalNoise noise_;
  double mu_;
  noise::Grid second_moment_grid_;
  noise::Grid cross_moment_grid_;
  std::int64_t second_moment_limit_;
  std::int64_t cross_moment_limit_;
};

}  // namespace nustream::inference
