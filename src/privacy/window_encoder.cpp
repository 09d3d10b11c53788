// The encoder of windows: c = 1/β as numbers, with a proven bound of what they are off by, and of all entries that
// are not computed. A window differs from the correlation that it was cut from, and so does its C.
#include "encoders.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "nustream/base/error.h"
#include "rounding.h"

namespace nustream::privacy {
namespace {

/// Norm of the column's rest that no longer matters.
constexpr double negligible = 1e-15;
/// The most work, in terms times entries (a few seconds), and the most entries (a quarter of a GiB).
constexpr double most_work = 4e9;
constexpr std::size_t most_entries = std::size_t{1} << 25;

/// ‖·‖₁ and ‖·‖₂ of a series.
struct Norms {
  double absolute, euclidean;
};

Norms norms(const std::vector<double>& series) {
  long double absolute = 0;
  long double square = 0;
  for (const double entry : series) {
    absolute += std::abs(entry);
    square += static_cast<long double>(entry) * entry;
  }
  return {static_cast<double>(absolute), std::sqrt(static_cast<double>(square))};
}

/// Continues c to `count` entries. The dot products are in long double, and kappa() bounds their error.
void extend_inverse(const std::vector<double>& beta, std::size_t count, std::vector<double>& c) {
  c.reserve(count);
  while (c.size() < count) {
    const std::size_t t = c.size();
    const std::size_t reach = std::min(t, beta.size() - 1);
    long double sum = t == 0 ? 1 : 0;
    for (std::size_t s = 1; s <= reach; ++s) sum -= static_cast<long double>(beta[s]) * c[t - s];
    c.push_back(static_cast<double>(sum));
  }
}

/// κ, the relative error of one entry: W products and additions in long double and one rounding to double. The
/// latter counts twice, because it is relative to the result and not to the terms.
double kappa(std::size_t terms) {
  return 2 * unit_roundoff +
         (static_cast<double>(terms) + 1) * static_cast<double>(std::numeric_limits<long double>::epsilon());
}

/// The bound of ‖ĉ − c‖₂ that window_column() derives in encoders.h. ζ must be far below 1: otherwise the noise's own
/// coefficients are so ill-conditioned that the bound would mean nothing.
double absolute_error(const std::vector<double>& beta, const std::vector<double>& c) {
  const double sum = norms(beta).absolute - 1;
  const Norms size = norms(c);
  const double zeta = kappa(beta.size()) * sum * size.absolute;
  if (!(zeta < 1e-3)) {
    throw Unsupported(
        "the inverse of these noise coefficients is too large to be computed: their noise would be "
        "useless; use another correlation or a shorter horizon");
  }
  return size.euclidean * zeta / (1 - zeta);
}

/// A bound of |c_t|·growth^{t − size} for all t ≥ size, from the last W − 1 entries and their error.
double bound_beyond(const std::vector<double>& c, std::size_t window, double growth, double error) {
  double largest = 0;
  const std::size_t last = std::min(c.size(), window - 1);
  for (std::size_t back = 1; back <= last; ++back) {
    const double entry = std::abs(c[c.size() - back]) + error;
    largest = std::max(largest, entry * std::pow(growth, -static_cast<double>(back)));
  }
  return rounded_up(largest, 8 * unit_roundoff);
}

[[noreturn]] void refuse_without_tail() {
  throw Unsupported(
      "no bound of this window's sensitivity is at hand for so many steps: give a shorter horizon, "
      "or use a rational correlation, whose sensitivity is exact at any number of steps");
}

}  // namespace

std::optional<double> certified_growth(const std::vector<double>& beta) {
  // The sum has one product and one addition for each term; rounding it up keeps the certificate valid.
  const double slack = 4 * static_cast<double>(beta.size()) * unit_roundoff;
  const auto certified = [&](double growth) {
    double sum = 0;
    for (std::size_t t = beta.size(); t-- > 1;) sum = (sum + std::abs(beta[t])) * growth;
    return rounded_up(sum, slack) <= 1;
  };
  double low = 1;
  if (!certified(low)) return {};
  double high = 2;
  while (high < 1024 && certified(high)) high *= 2;
  // `low` is certified throughout, so wherever the halving ends, the answer is valid.
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2;
    (certified(middle) ? low : high) = middle;
  }
  if (low == 1) return {};
  return low;
}

EncoderColumn window_column(const std::vector<double>& beta, std::optional<StepCount> most_steps,
                            std::uint64_t times) {
  const std::optional<double> growth = certified_growth(beta);
  if (!growth && !most_steps) refuse_without_tail();
  const double rate = growth.value_or(1);
  const std::uint64_t whole = most_steps ? most_steps->value() : endless_reach;
  EncoderColumn column;
  // With a certified tail a few windows' worth of entries is tried first, and doubled until the rest is
  // negligible.
  std::uint64_t count = growth ? std::max<std::uint64_t>(4 * beta.size(), 256) : whole;
  while (true) {
    count = std::min(count, whole);
    if (count > most_entries || static_cast<double>(beta.size()) * static_cast<double>(count) > most_work) {
      refuse_without_tail();
    }
    extend_inverse(beta, static_cast<std::size_t>(count), column.c);
    column.absolute_error = absolute_error(beta, column.c);
    if (count == whole) return column;
    column.ratio = 1 / rate;
    // Whether the rest matters is judged by the entries alone. Their error does not shrink with more entries, so
    // with it the loop might go on until it refuses.
    const double left = bound_beyond(column.c, beta.size(), rate, 0);
    if (static_cast<double>(times) * left / std::sqrt(1 - column.ratio * column.ratio) <= negligible) {
      column.beyond = bound_beyond(column.c, beta.size(), rate, column.absolute_error);
      return column;
    }
    count *= 2;
  }
}

}  // namespace nustream::privacy
