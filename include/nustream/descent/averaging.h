// Averages the iterates: by Polyak and Ruppert's plain mean over a tail, or with exponential weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nustream/base/units.h"

namespace nustream::descent {

/// Which average a release shows beside the last iterate. The iterate "of step count n" is θ after n steps; θ_0 is
/// never averaged.
struct Averaging {
  enum class Kind {
    last,        ///< no average: the last iterate is the estimate
    tail,        ///< the plain mean of the iterates of step counts from + 1, …, n
    exponential  ///< mean of the same iterates with weights decay^(n − step count), normalised
  };

  Kind kind = Kind::last;
  std::uint64_t from = 0;  ///< steps before the average begins: T/2 for the second half of T steps
  double decay = 0.999;    ///< for exponential, in (0, 1); the other kinds ignore it
};

/// Throws InvalidParameter where the decay of an exponential average is not in (0, 1).
void check(const Averaging& averaging);

/// A running average. After each step its weight becomes W ← decay·W + 1 (decay = 1 for a tail), and its value
/// becomes value ← value + (θ − value)/W. The value stays within the range of the iterates and does not overflow as a
/// sum would.
class Average {
 public:
  /// An average before its first iterate. Throws InvalidParameter as check() does.
  Average(const Averaging& settings, std::size_t dimension);

  /// Takes in the iterate after `steps` ≥ 1 steps. It is called once for each step count, in order.
  void update(std::span<const double> theta, StepCount steps);

  /// The average. Empty before it begins, and always for Kind::last.
  [[nodiscard]] std::span<const double> value() const noexcept;

  /// Goes on from the average that another run ended with, as if the iterates in it had been this average's own. It
  /// is called before the first iterate. `weight` > 0 is W of the other average: a tail goes on with the whole
  /// iterates in it, and an exponential average with at most 1/(1 − decay), the weight at which its own settles.
  ///
  /// Throws InvalidParameter for Kind::last, another weight, or a value that has another size or is not finite.
  void go_on_from(double weight, std::span<const double> value);

  /// Weighs the iterate after `steps` steps, for a loop that updates the value itself. Returns the gain 1/W with
  /// which the iterate enters, or 0 where it does not enter.
  [[nodiscard]] double weigh(StepCount steps) noexcept;
  /// Does the same for as many steps in turn as `gains` has entries. The first of them is the one after `before`
  /// steps.
  void weigh(StepCount before, std::span<double> gains) noexcept;
  /// The memory behind value(), d entries, which such a loop updates.
  [[nodiscard]] std::span<double> memory() noexcept { return value_; }

  /// The weight W, which is 0 before the average begins. W and value() are all that has to be kept of an average.
  [[nodiscard]] double weight() const noexcept { return weight_; }
  /// Goes on from what weight() and value() gave after `steps` steps. Throws InvalidParameter where no average can
  /// have that weight after `steps` steps, whatever it went on from, or where `value` has another size.
  void restore(double weight, std::span<const double> value, StepCount steps);

 private:
  Averaging settings_;
  double weight_ = 0;
  std::vector<double> value_;
};

}  // namespace nustream::descent
