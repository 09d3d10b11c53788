// Says how the noise of one step is correlated with that of earlier steps: by the unit lower-triangular B of z = B w.
// The columns of its inverse C decide the sensitivity. Notation: docs/notation.md.
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

/// Fresh noise in every step (DP-SGD): B = I. It has no horizon.
struct Independent {};

/// ν-FTRL, CDP+ eq. (7): β(x) = √(1 − (1−ν)x). With ν = 0 it is the optimum for prefix sums ("CC") and needs a finite
/// horizon. Its exact generation needs a finite horizon even for ν > 0, because each step uses all earlier noise; the
/// approximation by Rational does not.
struct NuFtrl {
  Damping nu;
  std::optional<StepCount> horizon;
};

/// Damped anti-PGD: β = 1, −(1−ν), 0, …. The damping ν > 0 keeps its sensitivity finite, so it has no horizon.
struct DampedAntiPgd {
  Damping nu;
};

/// Anti-PGD: β = 1, −1, 0, …. Its γ_T² = T grows without limit, so it needs a finite horizon.
struct AntiPgd {
  StepCount horizon;
};

/// A finite β that the user gives, or that a window cut from a longer one: β_t = 0 from beta.size() on. It needs no
/// horizon where Σ_{t≥1} |β_t| < 1, because a proven bound of the tail of C exists there; otherwise it needs one.
struct Windowed {
  std::vector<double> beta;
  std::optional<StepCount> horizon;
};

/// A first column c of C that the user gives, zero from c.size() on. β is its series inverse up to the horizon.
struct Strategy {
  std::vector<double> c;
  StepCount horizon;
};

/// Binary-tree aggregation. If it `restarts`, a new tree begins every 2^height steps; otherwise it ends after
/// 2^height steps. The noise of a prefix sum comes from the fewest nodes (plain), or has the least variance that the
/// completed nodes allow (honaker).
///
/// Source: Kairouz et al. 2021, Appendix B; Honaker 2015.
struct Tree {
  enum class Estimator { plain, honaker };
  unsigned height;  ///< 0 … 40
  Estimator estimator;
  bool restarts;
};

class Correlation;

/// A correlation with a horizon that is begun anew whenever it ends, for any number of steps. B and C are block
/// diagonal: each block has the first `horizon` rows and columns of `block`'s matrices. The noise of one block does
/// not depend on the seed noise of another.
///
/// Source: CDP+ section 4 ("× S"); Choquette-Choo et al. 2023, "(Amplified) Banded Matrix Factorization", who call it
/// stamping.
class Restarted {
 public:
  /// Throws InvalidParameter where `block` has no horizon, is restarted itself, or is a tree (a tree has a flag of
  /// its own for restarts).
  explicit Restarted(const Correlation& block);

  [[nodiscard]] const Correlation& block() const noexcept { return *block_; }
  /// How many steps a block has: block().horizon().
  [[nodiscard]] StepCount every() const noexcept { return every_; }

 private:
  std::shared_ptr<const Correlation> block_;
  StepCount every_;
};

/// One correlation, valid by construction. Everything that depends on B (coefficients, generators, sensitivity) takes
/// this one value, so that no two of them can use different B's.
class Correlation {
 public:
  using Family =
      std::variant<Independent, NuFtrl, Rational, DampedAntiPgd, AntiPgd, Windowed, Strategy, Tree, Dense, Restarted>;

  /// `stop` is a number of steps that may not be passed even where the family would allow it. A rational correlation
  /// that was fitted to a number of steps ends there, and then costs γ_T instead of γ_∞.
  ///
  /// Throws InvalidParameter where the family's parameters are out of range: ν = 1, β_0 ≠ 1, c_0 ≠ 1, coefficients
  /// that are missing or not finite, a horizon of 0, or no horizon where one is needed.
  explicit Correlation(Family family, std::optional<StepCount> stop = {});

  [[nodiscard]] const Family& family() const noexcept { return family_; }
  /// The name that settings use: "independent", "nu", "rational", "damped-anti-pgd", "anti-pgd", "windowed",
  /// "strategy", "tree", "honaker" or "dense". A restarted correlation has the name of its block.
  [[nodiscard]] std::string name() const;
  /// The largest number of steps that may ever be taken; empty where any number may be.
  [[nodiscard]] std::optional<StepCount> horizon() const;
  /// Whether B is Toeplitz: false for trees, dense correlations and restarted ones.
  [[nodiscard]] bool toeplitz() const noexcept;

 private:
  Family family_;
  std::optional<StepCount> stop_;
};

/// ν-FTRL's β cut after `terms` entries. The result is a correlation of its own, with its own C and sensitivity.
[[nodiscard]] Correlation windowed_nu(Damping nu, std::size_t terms, std::optional<StepCount> horizon = {});

/// The first `count` entries of β, to 1e-12 relative at 1e5 steps (of a Strategy, by its series inverse). O(count),
/// or O(c.size()·count) for a Strategy. Throws Unsupported where B is not Toeplitz.
[[nodiscard]] std::vector<double> noise_coefficients(const Correlation& correlation, std::size_t count);

/// The first `count` entries of c, the series inverse of β, from its closed form where there is one. Throws
/// Unsupported where C is not Toeplitz.
[[nodiscard]] std::vector<double> strategy_coefficients(const Correlation& correlation, std::size_t count);

/// The series inverse b of `a`: Σ_{s≤t} a_s b_{t−s} = [t = 0]. O(W·count), where W counts the entries of `a` up to
/// the last one that is not 0. It is stable where a_t ≤ 0 for all t ≥ 1, as for any cut of ν-FTRL's β, because no
/// term then cancels another. Throws InvalidParameter where a_0 is 0, not finite or missing.
[[nodiscard]] std::vector<double> series_inverse(const std::vector<double>& a, std::size_t count);

/// The largest standard deviation of any z_t within the horizon, in units of the seed noise's standard deviation:
/// √(max_t Σ_{s≤t} β_s²), or the largest row norm where B is not Toeplitz. The relative error is below 1e-13. O(T²
/// bands) for dense correlations.
[[nodiscard]] double largest_stddev(const Correlation& correlation);

/// B as a dense row-major steps × steps matrix. It is the brute-force twin of every generator, for tests and small
/// studies. For trees the rows are steps and the columns are nodes in the order of their seed noise (by step, then by
/// level), so it is steps × (steps·levels). Throws Unsupported beyond the horizon of a dense correlation.
[[nodiscard]] std::vector<double> dense_noise_matrix(const Correlation& correlation, std::size_t steps);

}  // namespace nustream::noise
