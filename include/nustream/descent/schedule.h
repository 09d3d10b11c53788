// Step sizes: η_t as a public function of the step number alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "nustream/base/units.h"

namespace nustream::descent {

/// η_t = η.
struct Constant {
  StepSize size;
};

/// η_t = η/√(1 + t/t0). t0 > 0, in steps: how long η_t stays near η.
struct InverseSqrt {
  StepSize size;
  double knee = 1;  ///< t0
};

/// η_t = η/(1 + t/t0). t0 > 0, in steps.
struct Inverse {
  StepSize size;
  double knee = 1;  ///< t0
};

/// η_t = η·(t + 1)/w for t < w, then η: the first step is already positive.
struct WarmUp {
  StepSize size;
  std::uint64_t steps = 1;  ///< w ≥ 1
};

/// η_t is the size of the last piece with from ≤ t. The first piece begins at step 0; `from` increases.
struct Piecewise {
  struct Piece {
    std::uint64_t from;
    StepSize size;
  };
  std::vector<Piece> pieces;
};

class Schedule;

/// Another schedule's η_t, brought down linearly over the last w = max(1, round(share·T)) of T steps: times
/// floor + (1 − floor)·(T − t)/w for T − w ≤ t < T. At t = T − w nothing is taken off yet, at T the floor would be
/// reached. From T on, η_t is floor times the other schedule's: nothing is meant to take such a step.
/// Source: CDP+ appendix G.1 (share ¼, floor .05) and G.2 (share ¼).
struct Cooldown {
  std::shared_ptr<const Schedule> of;
  double share;       ///< 0 < share ≤ 1
  double floor = 0;   ///< 0 ≤ floor < 1
  StepCount horizon;  ///< T ≥ 1
};

/// One schedule: valid by construction.
class Schedule {
 public:
  using Family = std::variant<Constant, InverseSqrt, Inverse, WarmUp, Piecewise, Cooldown>;

  /// Throws InvalidParameter where a knee is not a finite number > 0, a warm-up has no step, pieces are empty, do not
  /// begin at step 0 or do not increase, or a cooldown's share, floor or horizon are out of range or it is one of a
  /// cooldown.
  explicit Schedule(Family family);

  /// η_t; a few nanoseconds.
  [[nodiscard]] double at(StepIndex step) const;
  /// η_t of as many steps as `sizes` has, from `first` on.
  void sizes(StepIndex first, std::span<double> sizes) const;

  /// The same over another number of steps: of a cooldown, with that horizon; else as it is.
  [[nodiscard]] Schedule over(StepCount horizon) const;
  [[nodiscard]] bool cools_down() const noexcept { return std::holds_alternative<Cooldown>(family_); }

  [[nodiscard]] const Family& family() const noexcept { return family_; }

 private:
  Family family_;
};

}  // namespace nustream::descent
