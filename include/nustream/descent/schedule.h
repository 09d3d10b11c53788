// Step sizes: η_t is a public function of the step number alone.
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

/// η_t = η/√(1 + t/t0). t0 > 0, in steps, says how long η_t stays near η.
struct InverseSqrt {
  StepSize size;
  double knee = 1;  ///< t0
};

/// η_t = η/(1 + t/t0), with t0 > 0 in steps.
struct Inverse {
  StepSize size;
  double knee = 1;  ///< t0
};

/// η_t = η·(t + 1)/w for t < w, and η from then on. The first step is already positive.
struct WarmUp {
  StepSize size;
  std::uint64_t steps = 1;  ///< w ≥ 1
};

/// η_t is the size of the last piece with from ≤ t. The first piece begins at step 0, and `from` increases.
struct Piecewise {
  struct Piece {
    std::uint64_t from;
    StepSize size;
  };
  std::vector<Piece> pieces;
};

class Schedule;

/// Another schedule's η_t, brought down linearly over the last w = max(1, round(share·T)) of T steps: η_t is
/// multiplied by floor + (1 − floor)·(T − t)/w for T − w ≤ t < T. At t = T − w nothing is taken off yet, and at T the
/// floor would be reached. From T on, η_t is floor times the other schedule's; such steps are not meant to be taken.
///
/// Source: CDP+ appendix G.1 (share ¼, floor .05) and G.2 (share ¼).
struct Cooldown {
  std::shared_ptr<const Schedule> of;
  double share;       ///< 0 < share ≤ 1
  double floor = 0;   ///< 0 ≤ floor < 1
  StepCount horizon;  ///< T ≥ 1
};

/// One schedule, valid by construction.
class Schedule {
 public:
  using Family = std::variant<Constant, InverseSqrt, Inverse, WarmUp, Piecewise, Cooldown>;

  /// Throws InvalidParameter where a knee is not a finite number > 0, a warm-up has no step, or the pieces are empty,
  /// do not begin at step 0 or do not increase. Throws it also where the share, floor or horizon of a cooldown are
  /// out of range, or where the schedule that it cools down is missing or a cooldown itself.
  explicit Schedule(Family family);

  /// η_t of one step; takes a few nanoseconds.
  [[nodiscard]] double at(StepIndex step) const;
  /// Writes η_t of as many steps as `sizes` has entries, from `first` on.
  void sizes(StepIndex first, std::span<double> sizes) const;

  /// The same schedule over another number of steps: a cooldown gets that horizon, and others stay as they are.
  [[nodiscard]] Schedule over(StepCount horizon) const;
  [[nodiscard]] bool cools_down() const noexcept { return std::holds_alternative<Cooldown>(family_); }

  [[nodiscard]] const Family& family() const noexcept { return family_; }

 private:
  Family family_;
};

}  // namespace nustream::descent
