// The prefix-sum loss of a rational encoder in closed form; private to the privacy room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "geometric.h"
#include "nustream/privacy/optimised.h"
#include "poles.h"

namespace nustream::privacy::optimised {

/// 1 − xy from 1 − x and 1 − y, for |x|, |y| < 1 close to 1, without cancellation.
template <class Number>
Number gap_of_product(const Number& x, const Number& y) {
  return x + y - x * y;
}

/// The loss sens² · error in closed form: a sum of geometric sums for every pair of poles.
class RationalLoss {
 public:
  explicit RationalLoss(const PrefixSums& problem)
      : steps_(problem.horizon.value()),
        times_(problem.participation.times_within(problem.horizon)),
        separation_(problem.participation.separation()),
        mean_(problem.error == PrefixError::mean) {}

  template <class Number>
  Number operator()(const Poles<Number>& poles) const {
    return squared_sensitivity(poles) * error(poles);
  }

  /// The error Σ_t weight_t P_t², with P_t = Σ_{s≤t} β_s = B(1) + Σ_i r_i p_i^t and r_i = a_i/(1 − p_i).
  template <class Number>
  [[nodiscard]] Number error(const Poles<Number>& poles) const {
    const std::size_t count = poles.a.size();
    Number rest = 1.0;
    for (std::size_t i = 0; i < count; ++i) rest = rest * poles.below_q[i] / poles.below_p[i];
    const auto steps = static_cast<double>(steps_);
    Number sum = rest * rest * Number(mean_ ? (steps + 1) / 2 : steps);
    for (std::size_t i = 0; i < count; ++i) {
      const Number r = poles.a[i] / poles.below_p[i];
      sum += Number(2.0) * rest * r * weighted(poles.below_p[i]);
      for (std::size_t j = 0; j <= i; ++j) {
        const Number pair =
            r * (poles.a[j] / poles.below_p[j]) * weighted(gap_of_product(poles.below_p[i], poles.below_p[j]));
        sum += j < i ? pair + pair : pair;
      }
    }
    return sum;
  }

 private:
  /// Σ_{t<T} weight_t x^t for x = 1 − gap.
  template <class Number>
  [[nodiscard]] Number weighted(const Number& gap) const {
    const GeometricSums<Number> sums(gap, steps_);
    return mean_ ? sums.ramped / Number(static_cast<double>(steps_)) : sums.plain;
  }

  /// The squared sensitivity Σ_t V_t², with V_t = Σ_i c_{t−ib}. Between two participations V is a sum of
  /// exponentials with amplitudes s_i = Σ_{jb<t} q_i^{t−jb−1}, so the sum goes block by block, as the accounting
  /// does it (src/privacy/exponential_encoder.cpp).
  template <class Number>
  [[nodiscard]] Number squared_sensitivity(const Poles<Number>& poles) const {
    const std::size_t count = poles.b.size();
    const std::uint64_t last = steps_ - (times_ - 1) * separation_ - 1;
    const std::vector<Number> whole = pairs(poles, separation_ - 1);
    const std::vector<Number> cut = pairs(poles, last);
    std::vector<Number> amplitudes(count, Number(0.0));
    std::vector<Number> decays;
    decays.reserve(count);
    for (const Number& gap : poles.below_q) decays.push_back(power(gap, separation_ - 1));
    Number square = 0.0;
    for (std::uint64_t block = 0; block < times_; ++block) {
      square += block_square(poles, amplitudes, block + 1 < times_ ? whole : cut);
      for (std::size_t i = 0; i < count; ++i) {
        amplitudes[i] = ((Number(1.0) - poles.below_q[i]) * amplitudes[i] + Number(1.0)) * decays[i];
      }
    }
    return square;
  }

  /// Σ_{t<terms} (q_i q_j)^t for every pair of poles j ≤ i.
  template <class Number>
  [[nodiscard]] static std::vector<Number> pairs(const Poles<Number>& poles, std::uint64_t terms) {
    std::vector<Number> sums;
    for (std::size_t i = 0; i < poles.below_q.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        sums.push_back(GeometricSums<Number>(gap_of_product(poles.below_q[i], poles.below_q[j]), terms).plain);
      }
    }
    return sums;
  }

  /// Σ V_t² over the step of a participation and those steps after it that `sums` cover.
  template <class Number>
  [[nodiscard]] static Number block_square(const Poles<Number>& poles, const std::vector<Number>& amplitudes,
                                           const std::vector<Number>& sums) {
    Number start = 1.0;
    std::vector<Number> weights;
    for (std::size_t i = 0; i < amplitudes.size(); ++i) {
      start += poles.b[i] * amplitudes[i];
      weights.push_back(poles.b[i] * ((Number(1.0) - poles.below_q[i]) * amplitudes[i] + Number(1.0)));
    }
    Number square = start * start;
    std::size_t pair = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j, ++pair) {
        const Number term = weights[i] * weights[j] * sums[pair];
        square += j < i ? term + term : term;
      }
    }
    return square;
  }

  std::uint64_t steps_;
  std::uint64_t times_;
  std::uint64_t separation_;
  bool mean_;
};

}  // namespace nustream::privacy::optimised
