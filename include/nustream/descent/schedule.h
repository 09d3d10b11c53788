// Step sizes: η_t as a public function of the step number alone.
#pragma once

#include <cmath>
#include <cstdint>
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

/// One schedule: valid by construction.
class Schedule {
 public:
  using Family = std::variant<Constant, InverseSqrt, Inverse, WarmUp, Piecewise>;

  /// Throws InvalidParameter where a knee is not a finite number > 0, a warm-up has no step, or pieces are
  /// empty, do not begin at step 0 or do not increase.
  explicit Schedule(Family family);

  /// η_t; a few nanoseconds.
  [[nodiscard]] double at(StepIndex step) const;
  /// η_t of as many steps as `sizes` has, from `first` on.
  void sizes(StepIndex first, std::span<double> sizes) const;

  [[nodiscard]] const Family& family() const noexcept { return family_; }

 private:
  Family family_;
};

}  // namespace nustream::descent
