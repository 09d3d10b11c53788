// Numbers that carry their derivatives along, so that a loss written once gives its gradient too; private to the
// privacy room.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace nustream::privacy::optimised {

/// A value and its derivatives by `Count` variables: forward differentiation.
template <std::size_t Count>
struct Slope {
  double value = 0;
  std::array<double, Count> by{};

  Slope() = default;
  Slope(double constant) : value(constant) {}  // NOLINT(google-explicit-constructor): a constant has no derivatives
  Slope(double at, const std::array<double, Count>& derivatives) : value(at), by(derivatives) {}
  static Slope variable(double at, std::size_t index) {
    Slope result(at);
    result.by[index] = 1;
    return result;
  }

  Slope& operator+=(const Slope& other) { return *this = *this + other; }
  Slope& operator*=(const Slope& other) { return *this = *this * other; }

  friend Slope operator+(const Slope& a, const Slope& b) { return combined(a.value + b.value, 1, a, 1, b); }
  friend Slope operator-(const Slope& a, const Slope& b) { return combined(a.value - b.value, 1, a, -1, b); }
  friend Slope operator*(const Slope& a, const Slope& b) {
    return combined(a.value * b.value, b.value, a, a.value, b);
  }
  friend Slope operator/(const Slope& a, const Slope& b) {
    const double ratio = a.value / b.value;
    return combined(ratio, 1 / b.value, a, -ratio / b.value, b);
  }

 private:
  static Slope combined(double at, double of_a, const Slope& a, double of_b, const Slope& b) {
    Slope result(at);
    for (std::size_t i = 0; i < Count; ++i) result.by[i] = of_a * a.by[i] + of_b * b.by[i];
    return result;
  }
};

template <std::size_t Count>
Slope<Count> sqrt(const Slope<Count>& x) {
  const double root = std::sqrt(x.value);
  Slope<Count> result(root);
  for (std::size_t i = 0; i < Count; ++i) result.by[i] = x.by[i] / (2 * root);
  return result;
}

}  // namespace nustream::privacy::optimised
