// Minimises a smooth function of many variables, freely or over columns that fall; private to the privacy room.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace nustream::privacy::optimised {

// Arithmetic of vectors in a fixed order, so that the bits do not depend on the compiler; private to the privacy
// room.
[[nodiscard]] inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Returns f(x) and writes its gradient. It returns +∞ where x is not allowed, and the gradient is then not read.
using Objective = std::function<double(std::span<const double> x, std::span<double> gradient)>;

struct Minimum {
  std::vector<double> x;
  double value;
  std::size_t evaluations;
};

/// When to stop: when a step promises less than `promise` times |f|, or when `evaluations` evaluations have been
/// used.
struct Patience {
  double promise;
  std::size_t evaluations;
};

/// Minimises by L-BFGS from an allowed start, with steps that satisfy the weak Wolfe conditions. It uses only + −
/// × ÷ and √, each in a fixed order, so that the bits are the same on every machine wherever the objective keeps
/// to that too.
///
/// Source: Nocedal and Wright 2006, algorithms 7.4 and 7.5; Lewis and Overton 2013 (the line search).
[[nodiscard]] Minimum minimise(const Objective& objective, std::vector<double> start, const Patience& patience);

/// Replaces x by the closest vector in ℓ2 with x_0 ≥ x_1 ≥ … ≥ 0: stretches that would rise get their mean, and
/// negative values become 0. O(n).
///
/// Source: pool adjacent violators (Ayer et al. 1955).
void make_falling(std::vector<double>& x);

/// Minimises over x_0 ≥ x_1 ≥ … ≥ 0 by steps along the projected gradient, whose length is that of Barzilai and
/// Borwein. The start is projected onto the allowed vectors first. As with minimise(), the bits are the same on
/// every machine.
///
/// Source: Birgin, Martínez and Raydan 2000 (SPG2).
[[nodiscard]] Minimum minimise_falling(const Objective& objective, std::vector<double> start,
                                       const Patience& patience);

}  // namespace nustream::privacy::optimised
