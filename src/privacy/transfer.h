// The spectrum |B(ω)|² of those correlations that have one; private to the privacy room.
#pragma once

#include <functional>
#include <type_traits>

#include "nustream/noise/correlation.h"

namespace nustream::privacy {

/// One node of a quadrature rule for (1/2π)∫ dω over the whole circle: cos²(ω/2), sin²(ω/2) and the weight. The
/// two squares are kept instead of ω, because 1 − cos ω cancels at low frequencies, where the narrow features are.
struct Frequency {
  double cosine_squared, sine_squared, weight;
};

/// |1 − a e^{iω}|² for real a, given 1 − a. It is computed as a sum of two squares, so nothing cancels.
[[nodiscard]] inline double squared_factor(double one_minus, const Frequency& at) {
  const double one_plus = 2 - one_minus;
  return one_minus * one_minus * at.cosine_squared + one_plus * one_plus * at.sine_squared;
}
/// The same value for numbers that carry derivatives (optimised/slope.h).
template <class Number>
  requires(!std::is_arithmetic_v<Number>)
[[nodiscard]] Number squared_factor(const Number& one_minus, const Frequency& at) {
  const Number one_plus = Number(2.0) - one_minus;
  return one_minus * one_minus * Number(at.cosine_squared) + one_plus * one_plus * Number(at.sine_squared);
}

/// The spectrum of a rational correlation: Π |1 − q_i e^{iω}|²/|1 − p_i e^{iω}|².
[[nodiscard]] double squared_transfer(const noise::Rational& rational, const Frequency& at);

/// |B(ω)|² of a correlation without a horizon, as a function of ω. A call of that function is O(W) for windows and
/// O(m) for rational correlations. Throws Unsupported where there is a horizon or B is not Toeplitz.
[[nodiscard]] std::function<double(const Frequency&)> squared_transfer(const noise::Correlation& correlation);

}  // namespace nustream::privacy
