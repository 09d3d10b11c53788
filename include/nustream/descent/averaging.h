// Averages of iterates: Polyak–Ruppert over a tail, or exponentially weighted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nustream/base/units.h"

namespace nustream::descent {

/// Which average a release shows beside the last iterate. The iterate "of step count n" is θ after n steps;
/// θ_0 is never averaged.
struct Averaging {
  enum class Kind {
    last,        ///< none: the last iterate is the estimate
    tail,        ///< the plain mean of the iterates of step counts from + 1, …, n
    exponential  ///< the mean of the same iterates, weighted by decay^(n − step count) and normalised
  };

  Kind kind = Kind::last;
  std::uint64_t from = 0;  ///< steps before the average begins: T/2 for the second half of T steps
  double decay = 0.999;    ///< of exponential, in (0, 1); unused by the others
};

/// Throws InvalidParameter where the decay of an exponential average is not in (0, 1).
void check(const Averaging& averaging);

/// A running average: after each step its weight W ← decay·W + 1 (decay = 1 for a tail) and
/// value ← value + (θ − value)/W, which stays within the range of the iterates and does not overflow as a
/// sum would.
class Average {
 public:
  /// Before its first iterate. Throws InvalidParameter as check() does.
  Average(const Averaging& settings, std::size_t dimension);

  /// Takes in the iterate after `steps` steps (≥ 1; called once for each step count, in order).
  void update(std::span<const double> theta, StepCount steps);

  /// The average; empty before it begins, and always for Kind::last.
  [[nodiscard]] std::span<const double> value() const noexcept;

  /// Before its first iterate: goes on from the average that another run ended with, as if the iterates in it had
  /// been its own. `weight`: W of that average, more than 0. A tail goes on with the whole iterates in it, an
  /// exponential average with at most 1/(1 − decay), the weight at which its own settles. Throws InvalidParameter for
  /// Kind::last, another weight, or a value of another size or that is not finite.
  void go_on_from(double weight, std::span<const double> value);

  /// For a loop that updates the value itself: weighs the iterate after `steps` steps and returns the gain
  /// 1/W with which it enters, 0 where it does not enter.
  [[nodiscard]] double weigh(StepCount steps) noexcept;
  /// The same for as many steps in turn as `gains` has, the first of them the one after `before` steps.
  void weigh(StepCount before, std::span<double> gains) noexcept;
  /// The memory behind value(), d entries, for the same loop.
  [[nodiscard]] std::span<double> memory() noexcept { return value_; }

  /// W: with value(), all that has to be kept of an average. 0 before it begins.
  [[nodiscard]] double weight() const noexcept { return weight_; }
  /// Goes on from what weight() and value() gave after `steps` steps. Throws InvalidParameter where no such
  /// average can have that weight, whatever it went on from, or `value` has another size.
  void restore(double weight, std::span<const double> value, StepCount steps);

 private:
  Averaging settings_;
  double weight_ = 0;
  std::vector<double> value_;
};

}  // namespace nustream::descent
