// Minimises a smooth function of many variables; private to the privacy room.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace nustream::privacy::optimised {

/// Returns f(x) and writes its gradient. It returns +∞ where x is not allowed, and the gradient is then not read.
using Objective = std::function<double(std::span<const double> x, std::span<double> gradient)>;

struct Minimum {
  std::vector<double> x;
  double value;
  std::size_t evaluations;
};

/// When to stop: when a step promises less than `promise` times |f|, or when so many evaluations have been used.
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

}  // namespace nustream::privacy::optimised
