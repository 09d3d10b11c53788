// The user's side of generalised linear models in non-interactive local privacy: it turns one record into one noisy
// report. Source: Wang, Zhang, Gaboardi and Xu ("NLDP"), Algorithm 1, lines 1 to 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nustream/base/units.h"
#include "nustream/inference/local_bounds.h"
#include "nustream/noise/grid.h"

namespace nustream::inference {

/// How the standard deviations of the noise follow from ε and δ.
enum class LocalCalibration {
  exact,  ///< treats the whole report as one Gaussian mechanism, by its exact curve
  paper,  ///< uses the paper's constants: 32 r⁴ ln(2.5/δ)/ε² and 32 r²Y² ln(2.5/δ)/ε²
};

/// What one report may cost the person who sends it, and how that is divided between its parts.
struct LocalBudget {
  Epsilon epsilon;
  Delta delta;
  LocalCalibration calibration = LocalCalibration::exact;
  LocalNorm norm = LocalNorm::l1;
  double split = 0.5;  ///< share of μ² that x xᵀ would have if the parts were released apart; in (0, 1)
};

/// The standard deviations of the noise of one report.
struct LocalNoise {
  NoiseStddev second_moment;  ///< of each of the p(p+1)/2 entries of the upper triangle, independent
  NoiseStddev cross_moment;   ///< of each of the p entries of x(y − centre), independent
};

/// The noise that `budget` asks for, before any rounding.
///
/// For exact it is the smallest multiple of (Δ_1/√split, Δ_2/√(1−split)) at which (ε, δ) holds for the stacked
/// report, by local_mu() and the exact Gaussian curve. For paper it is the literal constants, whatever they amount
/// to.
///
/// Throws InvalidParameter as check() does, for ε = 0, for a split outside (0, 1), and for the paper's constants
/// together with the l2 norm or with a split (they use one half of ε and δ for each part).
[[nodiscard]] LocalNoise local_noise(const LocalBounds& bounds, const LocalBudget& budget);

/// The number of entries of a report of p features: p(p+1)/2 + p.
[[nodiscard]] constexpr std::size_t local_report_size(std::size_t dimension) noexcept {
  return dimension * (dimension + 1) / 2 + dimension;
}

/// Turns one record into one report: (x xᵀ, x(y − centre)) plus Gaussian noise, as integers on public grids.
///
/// A report is (ε, δ)-differentially private with respect to any change of its record. It is one draw, and a second
/// report of the same record would spend again. So a client keeps its report, and if it has to send twice it sends
/// the same report.
///
/// Both the parts and the noise are rounded to the nearest multiple of a spacing of about 2^-32 noise standard
/// deviations, and then added as integers, so that floating point leaks nothing of what was added. Rounding may move
/// the reports of two records apart by less than 2^-31 √(p(p+1)/2 + p) standard deviations, and the noise is
/// calibrated for that.
class LocalMechanism {
 public:
  /// Throws InvalidParameter as check() and local_noise() do. Throws it also where the noise is less than 2^-18 of
  /// what it hides, where ε is so small that rounding would be seen, and where the paper's constants do not hold the
  /// ε and δ that they are named for, by the exact curve (as at large ε).
  LocalMechanism(const LocalBounds& bounds, const LocalBudget& budget);

  [[nodiscard]] const LocalBounds& bounds() const noexcept { return bounds_; }
  [[nodiscard]] const LocalBudget& budget() const noexcept { return budget_; }
  [[nodiscard]] const LocalNoise& noise() const noexcept { return noise_; }
  /// μ of one report, including the rounding.
  [[nodiscard]] double mu() const noexcept { return mu_; }
  /// ε at the budget's δ by the exact curve. This is what one report really costs, at most the budget's ε.
  [[nodiscard]] Epsilon epsilon() const;

  /// The grid spacings of the two parts; powers of two.
  [[nodiscard]] double second_moment_spacing() const noexcept { return second_moment_grid_.spacing(); }
  [[nodiscard]] double cross_moment_spacing() const noexcept { return cross_moment_grid_.spacing(); }
  /// The largest number, in units of the grid, that a report can hold. A larger one was not made by this mechanism,
  /// since a sample of the noise ends at 9.5 standard deviations (noise/gaussian.h).
  [[nodiscard]] std::int64_t second_moment_limit() const noexcept { return second_moment_limit_; }
  [[nodiscard]] std::int64_t cross_moment_limit() const noexcept { return cross_moment_limit_; }

  /// How many numbers a report has.
  [[nodiscard]] std::size_t report_size() const noexcept { return local_report_size(bounds_.dimension); }
  /// How many uniform 64-bit words the noise of one report needs.
  [[nodiscard]] std::size_t words() const noexcept { return (report_size() + 1) / 2 * 2; }

  /// Writes the report of (x, y) to `report`: the upper triangle of x xᵀ row by row, diagonal included, then x(y −
  /// centre). It first projects `x` in place. `words` are fresh random bits that are used for this report alone. They
  /// are its secret, since somebody who knows them can compute the record from the report; they are overwritten.
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
