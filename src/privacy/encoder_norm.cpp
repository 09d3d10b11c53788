// Chooses the encoder of each family of correlations, by one visit of the very Correlation that the generators draw
// from: so that what is accounted for is what is generated. Families with a closed form go to exponential_encoder.cpp
// or nu_encoder.cpp, and those that need their column as numbers to numeric_encoder.cpp.
#include "encoder_norm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <variant>

#include "../noise/overload.h"
#include "encoders.h"
#include "nustream/base/error.h"
#include "rounding.h"

namespace nustream::privacy {
namespace {

/// c_t = kept^t, written as a sum of one exponential; anti-PGD has kept = 1. There is no slack for the pole, since
/// the noise is generated with −kept, the same double.
ExponentialEncoder damped_encoder(double kept) {
  return {{kept}, {kept}, 0};
}

/// The poles q and weights b that the accounting uses are rounded, and so are the p and a that generate the noise.
/// An error of a few u in a pole grows to a few u for every step that its term lasts, both in the term itself and
/// in the differences of poles that make a and b.
ExponentialEncoder rational_encoder(const noise::Rational& rational) {
  return {rational.q(), rational.b(), 16 * static_cast<double>(rational.poles()) * unit_roundoff};
}

double absolute_sum(const std::vector<double>& series) {
  return std::accumulate(series.begin(), series.end(), 0.0, [](double sum, double x) { return sum + std::abs(x); });
}

/// The column as the accounting of `participation` needs it: as it is for one participation, and its envelope for
/// several, since the formula for several is a bound only where the column falls.
EncoderColumn for_participation(EncoderColumn column, const Participation& participation) {
  return participation.times() == 1 ? column : envelope(std::move(column));
}

/// A source that gives the same finite column however many entries are asked for.
ColumnSource fixed(EncoderColumn column) {
  return [column = std::move(column)](std::uint64_t) { return column; };
}

/// One participation needs no stored column: a running sum, an integral for late terms and the closed limit give its
/// norm. The column of ν-FTRL falls, so that it needs no envelope for several participations.
std::unique_ptr<EncoderNorm> nu_norm(const noise::NuFtrl& nu, const Participation& participation) {
  if (participation.times() == 1) return nu_column_norm(nu.nu);
  const std::uint64_t reach = nu_reach(nu.nu, participation.times());
  const auto source = [damping = nu.nu, reach](std::uint64_t count) {
    return nu_column(damping, std::min(count, reach));
  };
  return numeric_norm(source, reach, participation);
}

std::unique_ptr<EncoderNorm> window_norm(const noise::Windowed& window, const Participation& participation,
                                         std::optional<StepCount> most_steps) {
  EncoderColumn column = window_column(window.beta, most_steps, participation.times());
  const std::uint64_t reach = column.c.size();
  return numeric_norm(fixed(for_participation(std::move(column), participation)), reach, participation);
}

/// Bounds how far the encoder of a strategy's noise is from the given c. β is computed from c by the series
/// inverse with rounded dot products, so Σ_s c_s β̂_{t−s} = [t = 0] + δ_t, and the encoder of what is really
/// generated is c/(1 + δ). Its distance is ‖c/(1 + δ) − c‖₂ ≤ ‖c‖₂ ‖δ‖₁/(1 − ‖δ‖₁) with ‖δ‖₁ ≤ (W + 1)·u·(‖c‖₁ −
/// 1)·‖β̂‖₁.
double strategy_error(const std::vector<double>& c, const std::vector<double>& beta) {
  const double roundoff = (static_cast<double>(c.size()) + 1) * unit_roundoff;
  const double residual = roundoff * (absolute_sum(c) - 1) * absolute_sum(beta);
  if (!(residual < 1e-3)) {
    throw Unsupported("the noise coefficients of this strategy are too large to be computed: use another one");
  }
  const double norm = std::sqrt(std::inner_product(c.begin(), c.end(), c.begin(), 0.0));
  return norm * residual / (1 - residual);
}

/// The column that bounds a strategy's sensitivity. A strategy is 0 beyond its last entry. If that comes before
/// the next participation, the shifted columns do not overlap, and their sum has the same norm as the sum of the
/// absolute values: this is exact whatever the column's shape. Otherwise the envelope is needed.
EncoderColumn strategy_bound(EncoderColumn column, const Participation& participation) {
  if (column.c.size() > participation.separation()) return for_participation(std::move(column), participation);
  for (double& entry : column.c) entry = std::abs(entry);
  return column;
}

/// A strategy ends by definition, so its column is complete and nothing lies beyond it.
std::unique_ptr<EncoderNorm> strategy_norm(const noise::Correlation& correlation, const Participation& participation,
                                           std::optional<StepCount> most_steps) {
  EncoderColumn column = strategy_column(correlation, most_steps);
  const std::uint64_t reach = column.c.size();
  return numeric_norm(fixed(strategy_bound(std::move(column), participation)), reach, participation);
}

}  // namespace

EncoderColumn strategy_column(const noise::Correlation& correlation, std::optional<StepCount> most_steps) {
  const StepCount horizon = *correlation.horizon();
  const std::uint64_t steps = std::min(horizon, most_steps.value_or(horizon)).value();
  const auto& c = std::get<noise::Strategy>(correlation.family()).c;
  EncoderColumn column;
  column.c.assign(c.begin(), c.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(c.size(), steps)));
  column.absolute_error = strategy_error(column.c, noise::noise_coefficients(correlation, steps));
  return column;
}

std::optional<ExponentialEncoder> exponential_encoder(const noise::Correlation& correlation) {
  using Encoder = std::optional<ExponentialEncoder>;
  return std::visit(
      noise::Overload{
          [](const noise::Independent&) { return Encoder(ExponentialEncoder{}); },
          [](const noise::Rational& rational) { return Encoder(rational_encoder(rational)); },
          [](const noise::DampedAntiPgd& damped) { return Encoder(damped_encoder(1 - damped.nu.value())); },
          [](const noise::AntiPgd&) { return Encoder(damped_encoder(1)); }, [](const auto&) { return Encoder(); }},
      correlation.family());
}

std::unique_ptr<EncoderNorm> encoder_norm(const noise::Correlation& correlation, const Participation& participation,
                                          std::optional<StepCount> most_steps) {
  return std::visit(noise::Overload{
                        [&](const noise::Independent&) { return exponential_norm({}, participation); },
                        [&](const noise::NuFtrl& nu) { return nu_norm(nu, participation); },
                        [&](const noise::Rational& rational) {
                          return exponential_norm(rational_encoder(rational), participation);
                        },
                        [&](const noise::DampedAntiPgd& damped) {
                          return exponential_norm(damped_encoder(1 - damped.nu.value()), participation);
                        },
                        [&](const noise::AntiPgd&) { return exponential_norm(damped_encoder(1), participation); },
                        [&](const noise::Windowed& window) { return window_norm(window, participation, most_steps); },
                        [&](const noise::Strategy&) { return strategy_norm(correlation, participation, most_steps); },
                        [&](const noise::Tree& tree) { return tree_norm(tree.height, participation); },
                        [&](const noise::Dense& dense) { return dense_norm(dense, participation); },
                        [&](const noise::Restarted& restarted) { return restarted_norm(restarted, participation); },
                    },
                    correlation.family());
}

}  // namespace nustream::privacy
