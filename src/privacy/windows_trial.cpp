// The third part of sensitivity_over_windows(): tries every number of steps in every window, where that takes less
// than a second. Unlike the search over lags it adds the columns up as the horizon cuts them, so it is exact where
// the column is c itself.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "rounding.h"
#include "windows.h"

namespace nustream::privacy {
namespace {

/// The most work, in additions: below a second.
constexpr double most_additions = 2e8;

/// Adds the column, moved by `at` steps, to `sum`; what lies beyond the horizon falls away.
void add_moved(const std::vector<double>& column, std::uint64_t at, std::vector<double>& sum) {
  const std::size_t end = std::min<std::uint64_t>(sum.size(), at + column.size());
  for (std::size_t t = at; t < end; ++t) sum[t] += column[t - at];
}

/// Tries the counts n_1, …, n_{P−1} of all windows but the last, which is as full as can be: more steps at the end
/// move no others.
class Trials {
 public:
  Trials(const FallingColumn& column, std::size_t steps, const Participation& within, std::uint64_t windows)
      : column_(column.c),
        separation_(within.separation()),
        most_(within.times_within(StepCount{steps})),
        last_(steps, 0.0),
        sums_(static_cast<std::size_t>(windows), std::vector<double>(steps, 0.0)) {
    for (std::uint64_t i = 0; i < most_; ++i) add_moved(column_, i * separation_, last_);
  }

  /// The largest square over all counts.
  double largest() {
    try_window(0, 0);
    return largest_;
  }

 private:
  /// Tries all counts of window w, which begins at step `begin`; sums_[w] has the columns of the windows before.
  void try_window(std::size_t w, std::uint64_t begin) {
    std::vector<double>& sum = sums_[w];
    // This is the last window, or the first one that does not fit before the horizon: the pattern is complete.
    if (w + 1 == sums_.size() || begin >= sum.size()) {
      if (begin < sum.size()) add_moved(last_, begin, sum);
      long double square = 0;
      for (const double entry : sum) square += static_cast<long double>(entry) * entry;
      largest_ = std::max(largest_, static_cast<double>(square));
      return;
    }
    // Every depth has a sum of its own. Columns are only added and never taken out again, so nothing cancels.
    std::vector<double> here = sum;
    for (std::uint64_t n = 1; n <= most_; ++n) {
      const std::uint64_t at = begin + (n - 1) * separation_;
      if (at >= sum.size()) return;
      add_moved(column_, at, here);
      sums_[w + 1] = here;
      try_window(w + 1, at + border_gap);
    }
  }

  const std::vector<double>& column_;
  std::uint64_t separation_;
  std::uint64_t most_;  // steps of a window within the horizon
  std::vector<double> last_;
  std::vector<std::vector<double>> sums_;
  double largest_ = 0;
};

}  // namespace

std::optional<WorstPattern> worst_by_trial(const FallingColumn& column, StepCount horizon,
                                           const Participation& within, std::uint64_t windows) {
  const double entries = static_cast<double>(column.c.size());
  const double fit = static_cast<double>(within.times_within(horizon));
  const double span = static_cast<double>(windows) * (fit - 1) * static_cast<double>(within.separation()) +
                      static_cast<double>(windows * border_gap);
  // Beyond the last pattern's last column nothing is left to add up.
  const double steps = std::min(static_cast<double>(horizon.value()), entries + span);
  const double trials = std::pow(fit, static_cast<double>(windows - 1));
  // A trial goes over the steps about four times: it copies, adds a column, adds the last window, and squares.
  if (4 * trials * steps > most_additions) return std::nullopt;
  Trials all(column, static_cast<std::size_t>(steps), within, windows);
  const double in_all = fit * static_cast<double>(windows);
  const double length = std::sqrt(all.largest()) + in_all * column.absolute_error;
  const double slack = 2 * column.relative_error + (2 * in_all + 16) * unit_roundoff;
  return WorstPattern{rounded_up(length * length, slack), column.is_c};
}

}  // namespace nustream::privacy
