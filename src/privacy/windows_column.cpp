// The first part of sensitivity_over_windows(): a column that falls, by family, and the products of its shifted
// copies at each lag. The two searches (windows_search.cpp, windows_trial.cpp) read nothing else of a correlation.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <variant>

#include "../noise/overload.h"
#include "encoders.h"
#include "nustream/base/error.h"
#include "rounding.h"
#include "windows.h"

namespace nustream::privacy {
namespace {

/// The longest columns: 32 MiB of doubles. An entry of a sum of exponentials takes a power for each term, so such
/// a column may have fewer.
constexpr std::uint64_t most_column_entries = std::uint64_t{1} << 22;
constexpr std::uint64_t most_exponential_entries = std::uint64_t{1} << 20;

/// The relative error of a sum of exponentials over `steps` steps: that of its slowest term, as in
/// exponential_norm(), and the roundings of an entry.
double relative_error(const ExponentialEncoder& encoder, double steps) {
  double memory = 1;
  for (const double decay : encoder.decays) memory = std::max(memory, 1 / (1 - decay));
  const double terms = static_cast<double>(encoder.decays.size());
  return encoder.rounding_per_step * std::min(memory, steps) + (2 * terms + 8) * unit_roundoff;
}

/// The column of a sum of exponentials, for a known number of steps. Without one, exponential_products() has its
/// products in closed form.
std::optional<FallingColumn> column_of(const ExponentialEncoder& encoder, std::optional<StepCount> steps) {
  if (!steps || steps->value() > most_exponential_entries) return std::nullopt;
  FallingColumn column{{1}, relative_error(encoder, static_cast<double>(steps->value())), 0, true};
  for (std::uint64_t t = 1; t < steps->value(); ++t) {
    double entry = 0;
    for (std::size_t i = 0; i < encoder.decays.size(); ++i) {
      entry += encoder.weights[i] * std::pow(encoder.decays[i], static_cast<double>(t - 1));
    }
    column.c.push_back(entry);
  }
  return column;
}

/// The envelope of the column, cut at `steps`.
FallingColumn column_of(EncoderColumn column, std::optional<StepCount> steps) {
  if (steps && column.c.size() > steps->value()) {
    column.c.resize(static_cast<std::size_t>(steps->value()));
    column.beyond = 0;
  }
  const EncoderColumn falling = envelope(column);
  // The bound of the entries beyond the end is part of the envelope, so that it is compared without them.
  bool is_c = true;
  for (std::size_t t = 1; t < column.c.size(); ++t) {
    is_c = is_c && column.c[t] >= 0 && falling.c[t] <= std::max(column.c[t], column.beyond);
  }
  const double entries = static_cast<double>(falling.c.size());
  // ‖(beyond·ratio^n)_{n≥0}‖₂: what the entries behind the end may add to the length of the column.
  const double beyond =
      falling.beyond == 0 ? 0 : falling.beyond / std::sqrt((1 - falling.ratio) * (1 + falling.ratio));
  return {falling.c, falling.rounding_per_step * entries, rounded_up(falling.absolute_error + beyond, 0), is_c};
}

/// The column of exact ν-FTRL, up to the number of steps or to where the rest is negligible.
std::optional<FallingColumn> column_of(const noise::NuFtrl& nu, std::optional<StepCount> steps, std::uint64_t times) {
  const std::uint64_t reach = nu_reach(nu.nu, times);
  const std::uint64_t count = steps ? std::min(steps->value(), reach) : reach;
  if (count > most_column_entries) return std::nullopt;
  EncoderColumn column = nu_column(nu.nu, count);
  // If the column has an entry for each step, no entry lies beyond its end.
  if (steps && steps->value() == count) column.beyond = 0;
  return column_of(std::move(column), steps);
}

}  // namespace

std::optional<FallingColumn> falling_column(const noise::Correlation& correlation, std::optional<StepCount> steps,
                                            std::uint64_t times) {
  using Column = std::optional<FallingColumn>;
  if (const auto encoder = exponential_encoder(correlation)) return column_of(*encoder, steps);
  return std::visit(noise::Overload{[&](const noise::NuFtrl& nu) { return column_of(nu, steps, times); },
                                    [&](const noise::Windowed& window) -> Column {
                                      EncoderColumn column = window_column(window.beta, steps, times);
                                      if (column.c.size() > most_column_entries) return std::nullopt;
                                      return column_of(std::move(column), steps);
                                    },
                                    [&](const noise::Strategy&) -> Column {
                                      return column_of(strategy_column(correlation, steps), steps);
                                    },
                                    [](const auto&) { return Column(); }},
                    correlation.family());
}

bool column_falls(const noise::Correlation& correlation, std::optional<StepCount> steps, std::uint64_t times) {
  // Sums of exponentials with positive weights fall from c_1 on, and so does c_t = (1−ν)^t·C(2t, t)/4^t.
  if (exponential_encoder(correlation) || std::holds_alternative<noise::NuFtrl>(correlation.family())) return true;
  try {
    const auto column = falling_column(correlation, steps, times);
    return column && column->is_c;
  } catch (const Unsupported&) {
    return false;
  }
}

LagProducts products_of(FallingColumn column, bool has_horizon) {
  const std::uint64_t reach = column.c.size();
  const double relative = 2 * column.relative_error + (static_cast<double>(reach) + 4) * unit_roundoff;
  const double absolute = column.absolute_error;
  // With a horizon the columns of late steps are cut. Their products are smaller, so the bound need not be reached.
  const bool is_reached = column.is_c && !has_horizon;
  const auto of_lag = [c = std::move(column.c)](std::uint64_t lag) {
    double sum = 0;
    for (std::size_t t = lag; t < c.size(); ++t) sum += c[t] * c[t - lag];
    return sum;
  };
  return {of_lag, reach, relative, absolute, is_reached};
}

std::optional<LagProducts> exponential_products(const noise::Correlation& correlation) {
  const auto encoder = exponential_encoder(correlation);
  if (!encoder) return std::nullopt;
  const std::vector<double>& q = encoder->decays;
  const std::vector<double>& b = encoder->weights;
  // Σ_{t≥1} c_{t+d} c_t = Σ_i q_i^d b_i Σ_j b_j/(1 − q_i q_j), and c_0 c_d comes on top.
  std::vector<double> later(q.size(), 0.0);
  double own = 1;
  for (std::size_t i = 0; i < q.size(); ++i) {
    // Anti-PGD: c does not decay, so its products have no limit.
    if (q[i] == 1) return std::nullopt;
    for (std::size_t j = 0; j < q.size(); ++j) later[i] += b[j] / std::fma(-q[i], q[j], 1.0);
    own += b[i] * later[i];
  }
  const auto of_lag = [q, b, later, own](std::uint64_t lag) {
    if (lag == 0) return own;
    double sum = 0;
    for (std::size_t i = 0; i < q.size(); ++i) {
      // The term of c_0 c_d is b_i q_i^{d−1}, and that of the sum over t ≥ 1 is b_i q_i^d · later_i.
      sum += b[i] * std::pow(q[i], static_cast<double>(lag - 1)) * (1 + q[i] * later[i]);
    }
    return sum;
  };
  return LagProducts{of_lag, endless_reach, 2 * relative_error(*encoder, static_cast<double>(endless_reach)), 0,
                     true};
}

}  // namespace nustream::privacy
