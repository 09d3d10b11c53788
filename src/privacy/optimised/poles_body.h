// Definitions for poles.h.
#pragma once

#include <array>
#include <cmath>
#include <utility>

namespace nustream::privacy::optimised {

/// The poles and weights as plain numbers. Empty where Rational refuses them, as it does where poles ran into each
/// other.
template <std::size_t Count>
std::optional<noise::Rational> rational_of(const Poles<Slope<Count>>& poles) {
  std::vector<double> q;
  std::vector<double> b;
  for (std::size_t i = 0; i < poles.b.size(); ++i) {
    q.push_back(1 - poles.below_q[i].value);
    b.push_back(poles.b[i].value);
  }
  try {
    return noise::Rational::from_poles(q, b);
  } catch (const InvalidParameter&) {
    return std::nullopt;
  }
}

template <std::size_t Count>
std::vector<Slope<Count>> gaps_at(const std::vector<double>& start, std::span<const double> y) {
  std::vector<Slope<Count>> gaps;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const double root = std::sqrt(1 + y[i] * y[i]);
    Slope<Count> gap(start[i] * (y[i] > 0 ? y[i] + root : 1 / (root - y[i])));
    gap.by[i] = gap.value / root;
    gaps.push_back(gap);
  }
  return gaps;
}

template <std::size_t Count, class Loss>
noise::Rational best_poles_of(const Loss& loss, std::span<const std::vector<double>> starts) {
  constexpr Patience patience{1e-13, 1000};
  using Number = Slope<Count>;
  std::optional<noise::Rational> best;
  double least = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& gaps : starts) {
    const Objective objective = [&](std::span<const double> y, std::span<double> gradient) {
      const Poles<Number> poles(gaps_at<Count>(gaps, y));
      // Poles outside are not allowed: q_m > 0 and p_m > −1 must hold.
      if (!(poles.below_q.back().value < 1) || !(poles.below_p.back().value < 2)) {
        return std::numeric_limits<double>::infinity();
      }
      const Number value = loss(poles);
      if (!std::isfinite(value.value)) return std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = value.by[i];
      return value.value;
    };
    const Minimum minimum = minimise(objective, std::vector<double>(gaps.size(), 0.0), patience);
    if (!(minimum.value < least)) continue;
    if (auto rational = rational_of(Poles<Number>(gaps_at<Count>(gaps, minimum.x)))) {
      best = std::move(rational);
      least = minimum.value;
    }
  }
  if (!best) throw Unsupported("no rational correlation of so many poles could be fitted: ask for fewer");
  return *best;
}

template <class Loss>
noise::Rational best_poles(const Loss& loss, std::size_t poles, std::span<const std::vector<double>> starts) {
  // The number of variables is a template argument; a few sizes are instantiated, and unused variables stay at 0.
  if (poles <= 2) return best_poles_of<4>(loss, starts);
  if (poles <= 4) return best_poles_of<8>(loss, starts);
  if (poles <= 6) return best_poles_of<12>(loss, starts);
  return best_poles_of<2 * most_poles>(loss, starts);
}

}  // namespace nustream::privacy::optimised
