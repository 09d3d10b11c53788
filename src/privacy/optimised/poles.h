// The poles of a rational correlation as free variables; private to the privacy room.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/noise/rational.h"
#include "quasi_newton.h"
#include "slope.h"

namespace nustream::privacy::optimised {

inline constexpr std::size_t most_poles = 12;

/// The poles of β(x) = Π (1 − q_i x)/(1 − p_i x) with 1 > q_1 > p_1 > q_2 > … > p_m: in this order all b_i > 0.
/// They are given by the gaps 1 − q_1, q_1 − p_1, p_1 − q_2, …, which must all be positive. A search may therefore
/// move freely: each gap is its start value times y + √(1 + y²), y free. Every difference below is a sum of gaps,
/// so nothing cancels.
template <class Number>
struct Poles {
  std::vector<Number> below_q;  ///< 1 − q_i
  std::vector<Number> below_p;  ///< 1 − p_i
  std::vector<Number> a;        ///< weights of β: −Π_j (p_i − q_j) / Π_{j≠i} (p_i − p_j)
  std::vector<Number> b;        ///< weights of c: Π_j (q_i − p_j) / Π_{j≠i} (q_i − q_j)

  explicit Poles(const std::vector<Number>& gaps) {
    Number below = 0.0;
    for (std::size_t i = 0; i + 1 < gaps.size(); i += 2) {
      below = below + gaps[i];
      below_q.push_back(below);
      below = below + gaps[i + 1];
      below_p.push_back(below);
    }
    for (std::size_t i = 0; i < below_q.size(); ++i) {
      Number at_p = gaps[2 * i + 1];
      Number at_q = gaps[2 * i + 1];
      for (std::size_t j = 0; j < below_q.size(); ++j) {
        if (j == i) continue;
        at_p = at_p * (below_q[j] - below_p[i]) / (below_p[j] - below_p[i]);
        at_q = at_q * (below_p[j] - below_q[i]) / (below_q[j] - below_q[i]);
      }
      a.push_back(at_p);
      b.push_back(at_q);
    }
  }
};

/// The gaps of a rational correlation.
[[nodiscard]] std::vector<double> gaps_of(const noise::Rational& rational);

/// Gaps of `poles` poles whose complements 1 − q_1, 1 − p_1, 1 − q_2, … grow in geometric progression from
/// `lowest` to 0.7. No library function is used, because a fit ends at the same bits only if it starts from the same
/// bits.
[[nodiscard]] std::vector<double> geometric_gaps(std::size_t poles, double lowest);

/// Minimises a loss of the poles from each of `starts`, which are gaps of `poles` poles (1 … most_poles), and
/// returns the best result that Rational accepts. `loss` is a function object that takes Poles<Number> for any
/// Number and returns a Number > 0. Throws Unsupported where no result is accepted.
template <class Loss>
noise::Rational best_poles(const Loss& loss, std::size_t poles, std::span<const std::vector<double>> starts);

}  // namespace nustream::privacy::optimised

#include "poles_body.h"
