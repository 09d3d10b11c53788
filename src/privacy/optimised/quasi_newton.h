// Minimising a smooth function of many variables; private to the privacy room.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace nustream::privacy::optimised {

/// Gives f(x) and writes its gradient; +∞ where x is not allowed (the gradient is then not read).
using Objective = std::function<double(std::span<const double> x, std::span<double> gradient)>;

struct Minimum {
  std::vector<double> x;
  double value;
  std::size_t evaluations;
};

/// When to stop: a step promises less than `promise` of |f|, or so many evaluations are used.
struct Patience {
  double promise;
  std::size_t evaluations;
};

/// L-BFGS from an allowed start, with a step that satisfies the weak Wolfe conditions. Only + − × ÷ and √, each in a
/// fixed order: the same bits on every machine wherever the objective keeps to that.
///
/// Source: Nocedal and Wright 2006, algorithms 7.4 and 7.5; Lewis and Overton 2013 (the line search).
[[nodiscard]] Minimum minimise(const Objective& objective, std::vector<double> start, const Patience& patience);

}  // namespace nustream::privacy::optimised
