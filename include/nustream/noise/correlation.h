// How the noise of one step is correlated with that of earlier steps: the unit lower-triangular B of
// z = B w, and its inverse C, whose columns decide the sensitivity. Notation: docs/notation.md.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/dense.h"
#include "nustream/noise/rational.h"

namespace nustream::noise {

/// B = I: fresh noise every step (DP-SGD). Any horizon.
struct Independent {};

/// ν-FTRL, CDP+ eq. (7): β(x) = √(1 − (1−ν)x). ν = 0 is the prefix-sum optimum ("CC") and has a finite
/// horizon only. Exact generation needs a finite horizon even for ν > 0; RationalCorrelation does not.
struct NuFtrl {
  Damping nu;
  std::optional<StepCount> horizon;
};

/// β = 1, −(1−ν), 0, …: anti-PGD damped so that its sensitivity stays finite. ν > 0; any horizon.
struct DampedAntiPgd {
  Damping nu;
};

/// β = 1, −1, 0, …: γ_T² = T. Finite horizon only.
struct AntiPgd {
  StepCount horizon;
};

/// A finite β that the user gives or that a window cut from a longer one: β_t = 0 from beta.size() on.
/// Any horizon where Σ_{t≥1} |β_t| < 1 (a proven tail bound exists); otherwise `horizon` is needed.
struct Windowed {
  std::vector<double> beta;
  std::optional<StepCount> horizon;
};

/// A user-given c (first column of C), zero from c.size() on; β is its series inverse up to the horizon.
struct Strategy {
  std::vector<double> c;
  StepCount horizon;
};

/// Binary-tree aggregation, restarted every 2^height steps when `restarts`, else finished after 2^height steps.
/// Prefix sums from the fewest nodes (plain), or the least variance from the completed ones (honaker).
/// Source: Kairouz et al. 2021, Appendix B; Honaker 2015.
struct Tree {
  enum class Estimator { plain, honaker };
  unsigned height;  ///< 0 … 40
  Estimator estimator;
  bool restarts;
};

class Correlation;

/// A correlation with a horizon, begun anew every so many steps: B and C are block diagonal, with the first `horizon`
/// rows and columns of `block`'s in each block, and the noise of a block owes nothing to the seed noise of another.
/// Any number of steps. Source: CDP+ section 4 ("× S"); Choquette-Choo et al. 2023, "(Amplified) Banded Matrix
/// Factorization", who call it stamping.
class Restarted {
 public:
  /// Throws InvalidParameter where `block` has no horizon, or is a tree (whose own flag restarts it) or itself
  /// restarted.
  explicit Restarted(const Correlation& block);

  [[nodiscard]] const Correlation& block() const noexcept { return *block_; }
  /// Steps of a block: block().horizon().
  [[nodiscard]] StepCount every() const noexcept { return every_; }

 private:
  std::shared_ptr<const Correlation> block_;
  StepCount every_;
};

/// One correlation: valid by construction. Everything that depends on B (coefficients, generators,
/// sensitivity) takes this one value, so that no two of them can speak of different B's.
class Correlation {
 public:
  using Family =
      std::variant<Independent, NuFtrl, Rational, DampedAntiPgd, AntiPgd, Windowed, Strategy, Tree, Dense, Restarted>;

  /// `stop`: no more steps than this, whatever the family allows; a rational correlation fitted to a number of steps
  /// ends there, and costs γ_T instead of γ_∞. Throws InvalidParameter where the family's parameters are out of range
  /// (ν = 1, β_0 ≠ 1, c_0 ≠ 1, non-finite or empty coefficients, a horizon of 0, a missing horizon where one is
  /// needed).
  explicit Correlation(Family family, std::optional<StepCount> stop = {});

  [[nodiscard]] const Family& family() const noexcept { return family_; }
  /// The name used in settings: "independent", "nu", "rational", "damped-anti-pgd", "anti-pgd",
  /// "windowed", "strategy", "tree", "honaker", "dense"; of a restarted one its block's.
  [[nodiscard]] std::string name() const;
  /// Largest number of steps that may ever be taken; empty where any number may be.
  [[nodiscard]] std::optional<StepCount> horizon() const;
  /// False for trees, dense and restarted ones.
  [[nodiscard]] bool toeplitz() const noexcept;

 private:
  Family family_;
  std::optional<StepCount> stop_;
};

/// ν-FTRL's β cut at `terms`: its own correlation, with its own C and sensitivity.
[[nodiscard]] Correlation windowed_nu(Damping nu, std::size_t terms, std::optional<StepCount> horizon = {});

/// First `count` entries of β, to 1e-12 relative at 1e5 steps (Strategy: as its series inverse). O(count), for
/// Strategy O(c.size()·count). Throws Unsupported where B is not Toeplitz.
[[nodiscard]] std::vector<double> noise_coefficients(const Correlation& correlation, std::size_t count);

/// First `count` entries of c = 1/β as a series, from the closed form where there is one. Throws
/// Unsupported where C is not Toeplitz.
[[nodiscard]] std::vector<double> strategy_coefficients(const Correlation& correlation, std::size_t count);

/// Series inverse: Σ_{s≤t} a_s b_{t−s} = [t = 0]. O(W·count), W the entries of `a` up to its last that is not 0.
/// Stable where a_t ≤ 0 for t ≥ 1 (any cut of ν-FTRL's β): then no term cancels another. Throws InvalidParameter
/// where a_0 is 0, not finite or missing.
[[nodiscard]] std::vector<double> series_inverse(const std::vector<double>& a, std::size_t count);

/// Largest standard deviation of any z_t within the horizon, in units of the seed noise's: √(max_t Σ_{s≤t} β_s²),
/// where B is not Toeplitz its largest row norm. Relative error below 1e-13. O(T² bands) for dense ones.
[[nodiscard]] double largest_stddev(const Correlation& correlation);

/// B as a dense row-major steps × steps matrix: the brute-force twin of every generator, for tests and small studies.
/// For trees rows are steps and columns nodes in the order of their seed noise (step-major, level-minor), so it is
/// steps × (steps·levels).
[[nodiscard]] std::vector<double> dense_noise_matrix(const Correlation& correlation, std::size_t steps);

}  // namespace nustream::noise
