// Fits a dense encoder to prefix sums: over all lower-triangular C by the dual's fixed point (prefix_root.h), and
// over banded C with columns of equal norms by a quasi-Newton search (banded_loss.h).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "banded_loss.h"
#include "gram.h"
#include "nustream/base/error.h"
#include "nustream/privacy/optimised.h"
#include "prefix_root.h"
#include "quasi_newton.h"

namespace nustream::privacy {
namespace {

using optimised::row_start;

/// The optimum over all C for one participation, from the dual's fixed point.
noise::Correlation full(const PrefixSums& problem) {
  const auto steps = static_cast<std::size_t>(problem.horizon.value());
  optimised::DualWeights weights = optimised::dual_weights(problem);
  std::vector<double> x = optimised::PrefixRoot(steps).lower_triangle(weights.u, weights.v);
  std::vector<double> norms(steps);
  for (std::size_t t = 0; t < steps; ++t) norms[t] = std::sqrt(x[row_start(t) + t]);
  for (std::size_t t = 0; t < steps; ++t) {
    // Dividing by the norms makes the columns of C equally long: X_tt is the squared norm of column t.
    for (std::size_t s = 0; s <= t; ++s) x[row_start(t) + s] /= norms[t] * norms[s];
  }
  return optimised::encoder_of(std::move(x), problem.horizon);
}

/// The best columns within the band that all have one norm. The search starts from the Toeplitz fit.
noise::Correlation banded(const PrefixSums& problem, std::size_t bands) {
  if (problem.error == PrefixError::largest) {
    throw Unsupported(
        "the largest error is fitted by a dense correlation for all bands and one participation only: ask for the "
        "mean "
        "error, or for one that is not dense");
  }
  const auto steps = static_cast<std::size_t>(problem.horizon.value());
  const noise::Correlation toeplitz =
      optimised_toeplitz({problem.horizon, Participation::once(), problem.error}, bands);
  const std::vector<double>& c = std::get<noise::Strategy>(toeplitz.family()).c;
  optimised::BandedLoss loss(steps, bands);
  std::vector<double> columns;
  for (std::size_t s = 0; s < steps; ++s) {
    // The last columns are cut where the matrix ends.
    columns.insert(columns.end(), c.begin(), c.begin() + static_cast<std::ptrdiff_t>(loss.height(s)));
  }
  const optimised::Objective objective = [&](std::span<const double> at, std::span<double> gradient) {
    return loss(at, gradient);
  };
  constexpr optimised::Patience patience{1e-10, 400};
  const std::vector<double> best = optimised::minimise(objective, std::move(columns), patience).x;

  // The loss does not depend on the lengths of the columns, so the search leaves them as they come. Here all of them
  // get one length, and are turned from columns into the rows that noise::Dense takes.
  std::vector<double> rows(best.size());
  double scale = 0;  // scale of the first column, so that C_00 = 1
  for (std::size_t s = 0, first = 0; s < steps; first += loss.height(s), ++s) {
    double square = 0;
    for (std::size_t i = 0; i < loss.height(s); ++i) square += best[first + i] * best[first + i];
    const double norm = std::sqrt(square);
    if (s == 0) scale = norm / best[0];
    for (std::size_t i = 0; i < loss.height(s); ++i) {
      // Row t's last entry is the diagonal.
      const std::size_t t = s + i;
      rows[noise::Dense::entries_before(t + 1, bands) - 1 - i] = best[first + i] / norm * scale;
    }
  }
  return noise::Correlation{noise::Dense(std::move(rows), bands, problem.horizon)};
}

}  // namespace

noise::Correlation optimised_dense(const PrefixSums& problem, std::optional<std::size_t> bands) {
  const std::uint64_t horizon = problem.horizon.value();
  const bool once = problem.participation.times_within(problem.horizon) == 1;
  const std::uint64_t fitting = once ? horizon : std::min(horizon, problem.participation.separation());
  const auto wanted = static_cast<std::size_t>(bands.value_or(fitting));
  // Checks bands and memory before anything is computed: entries() throws where noise::Dense would.
  static_cast<void>(noise::Dense::entries(wanted, problem.horizon));
  return once && wanted == horizon ? full(problem) : banded(problem, wanted);
}

}  // namespace nustream::privacy
