// Puts the bounds of sensitivity_over_windows() together: P times one window, all P·k steps without a distance, and
// the worst pattern that one of two searches finds. A user's charge over several periods follows from the result
// (users/over_windows.h).
#include "windows.h"

#include <algorithm>
#include <cmath>

#include "encoder_norm.h"
#include "nustream/base/error.h"
#include "nustream/privacy/sensitivity.h"
#include "nustream/privacy/windows.h"
#include "rounding.h"

namespace nustream::privacy {
namespace {

/// The largest P·k that is asked for in the place of windows.
constexpr std::uint64_t most_neighbours = std::uint64_t{1} << 16;

/// The sensitivity over `steps` steps, or the supremum over all numbers of steps where none is given.
Sensitivity sensitivity_within(const noise::Correlation& correlation, std::optional<StepCount> steps,
                               const Participation& participation) {
  return steps ? sensitivity(correlation, *steps, participation) : sensitivity_limit(correlation, participation);
}

/// sensitivity() of all P·k steps without a distance; empty where it is not known or takes long to compute.
std::optional<Sensitivity> of_neighbours(const noise::Correlation& correlation, std::optional<StepCount> steps,
                                         const Participation& within, std::uint64_t windows) {
  std::uint64_t all = 0;
  if (__builtin_mul_overflow(within.times(), windows, &all)) return std::nullopt;
  // With b = 1 this is the answer itself and not only a bound, so it is computed at any size.
  if (all > most_neighbours && within.separation() > 1) return std::nullopt;
  try {
    return sensitivity_within(correlation, steps, Participation(all, border_gap));
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

/// The worst pattern of a Toeplitz C; empty where neither search can be made.
std::optional<WorstPattern> worst_pattern(const noise::Correlation& correlation, std::optional<StepCount> horizon,
                                          const Participation& within, std::uint64_t windows) try {
  if (windows > most_windows) return std::nullopt;
  std::optional<FallingColumn> column = falling_column(correlation, horizon, within.times() * windows);
  // Trying all counts comes first: with a number of steps it is exact, and the search over lags is only a bound.
  if (column && horizon) {
    if (auto tried = worst_by_trial(*column, *horizon, within, windows)) return tried;
  }
  if (column) return worst_counts(products_of(*std::move(column), horizon.has_value()), within, windows);
  std::optional<LagProducts> products = exponential_products(correlation);
  if (!products) return std::nullopt;
  products->is_reached = !horizon;
  return worst_counts(*products, within, windows);
} catch (const Unsupported&) {
  return std::nullopt;
}

}  // namespace

WindowsSensitivity sensitivity_over_windows(const noise::Correlation& correlation, std::optional<StepCount> steps,
                                            const Participation& participation, std::uint64_t windows) {
  if (windows == 0) throw InvalidParameter("windows", "0", "an integer >= 1");
  const std::optional<StepCount> horizon = steps ? steps : correlation.horizon();
  const Sensitivity of_one = sensitivity_within(correlation, steps, participation);
  const Participation within =
      horizon ? Participation(participation.times_within(*horizon), participation.separation()) : participation;
  const bool falls = column_falls(correlation, horizon, within.times());
  if (windows == 1) return {of_one, within.times() == 1 || falls};

  WindowsSensitivity least{Sensitivity{rounded_up(of_one.value() * static_cast<double>(windows), 0)}, false};
  const bool are_neighbours = within.times() == 1 || within.separation() == 1;
  if (const auto all = of_neighbours(correlation, steps, within, windows)) {
    least = {std::min(*all, least.sensitivity), are_neighbours && falls};
  }
  if (are_neighbours) return least;
  // A pattern that is reached costs at most what both bounds say, except for rounding. So its claim stays true when
  // the least of the three is taken.
  if (const auto pattern = worst_pattern(correlation, horizon, within, windows)) {
    const Sensitivity of_pattern{rounded_up(std::sqrt(pattern->squared), 0)};
    least = {std::min(of_pattern, least.sensitivity), pattern->is_reached};
  }
  return least;
}

}  // namespace nustream::privacy
