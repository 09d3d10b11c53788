// The parts of sensitivity_over_windows(): the column of an encoder that falls, the products of its shifted columns,
// and the two searches for the worst pattern; private to the privacy room.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"

namespace nustream::privacy {

/// How many steps behind the last step of a window the next window's first step may come.
inline constexpr std::uint64_t border_gap = 1;

/// A column of at least 0 that falls from its second entry on: c itself, or its envelope. Entries beyond the end are
/// zero, up to `absolute_error`.
struct FallingColumn {
  std::vector<double> c;
  double relative_error;  ///< of each entry
  double absolute_error;  ///< bound of ‖c − exact‖₂ on top of that
  bool is_c;              ///< whether it is c itself, up to these errors
};

/// The column over `steps` steps, or over so many that the rest is negligible, even `times` times over. Empty where C
/// is not Toeplitz, where the column would have more than 2^22 entries, and where it is a sum of exponentials over
/// more than 2^20 steps. Throws as sensitivity() does.
[[nodiscard]] std::optional<FallingColumn> falling_column(const noise::Correlation& correlation,
                                                          std::optional<StepCount> steps, std::uint64_t times);

/// Whether C is Toeplitz and its column is non-negative and falls from c_1 on, so that sensitivity() is exact. False
/// where that is not known.
[[nodiscard]] bool column_falls(const noise::Correlation& correlation, std::optional<StepCount> steps,
                                std::uint64_t times);

/// Upper bounds of ⟨C e_s, C e_{s+d}⟩ over all s, for lags d.
struct LagProducts {
  std::function<double(std::uint64_t)> of_lag;  ///< 0 from `reach` on; it never increases
  std::uint64_t reach;
  double relative_error;
  double absolute_error;  ///< of the length of one column
  bool is_reached;        ///< whether steps at the beginning come as close to all bounds as one likes
};

/// The products of a column: Σ_{t≥d} c_t c_{t−d}. A lag takes O(c.size()).
[[nodiscard]] LagProducts products_of(FallingColumn column, bool has_horizon);
/// The products without a horizon where c is a sum of exponentials, in closed form: O(terms) for each lag. Empty for
/// other correlations, and where the sum over a column is infinite.
[[nodiscard]] std::optional<LagProducts> exponential_products(const noise::Correlation& correlation);

/// The square of a length, or a bound of it.
struct WorstPattern {
  double squared;
  bool is_reached;
};

/// The most windows whose patterns are searched.
inline constexpr std::uint64_t most_windows = 64;

/// Branch and bound over the counts of the windows' steps. Empty where that takes too long: more than 2^16 steps in
/// all, or too much work for the products. Contract: 2 to most_windows windows.
[[nodiscard]] std::optional<WorstPattern> worst_counts(const LagProducts& products, const Participation& within,
                                                       std::uint64_t windows);

/// The same over `horizon` steps, by trying all counts. Empty where these are too many. Contract: the column has
/// `horizon` entries, or what it lacks is negligible.
[[nodiscard]] std::optional<WorstPattern> worst_by_trial(const FallingColumn& column, StepCount horizon,
                                                         const Participation& within, std::uint64_t windows);

}  // namespace nustream::privacy
