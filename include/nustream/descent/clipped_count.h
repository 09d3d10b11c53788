// The private count of clipped gradients: how many there were in the later part of a descent, with noise of its own.
#pragma once

#include <cstdint>
#include <span>

#include "nustream/base/units.h"
#include "nustream/noise/grid.h"

namespace nustream::descent {

/// A sum of grid units that no stream can fill: 2^63 steps of units below 2^52 stay below 2^115.
__extension__ typedef __int128 WideUnits;

/// The step at which the counted stretch begins, where `steps` steps were taken with a release every `every` steps.
/// Marks stand at the 1st, 2nd, 4th, 8th, … release. The stretch begins at the last mark but one that has been
/// passed, or at step 0 if fewer than two have been. From the third release on, the stretch therefore covers at least
/// the last half and at most the last three quarters of all steps, and leaves out how a descent begins. For example,
/// after the 6th release the marks at 1, 2 and 4 have been passed, and the stretch begins at the 2nd release.
[[nodiscard]] StepCount clipped_since(StepCount steps, std::uint64_t every) noexcept;

/// One stage of a lane, of dimension 1: Σ (c_t + z_t) over the steps of a stretch, where c_t is how many of the
/// step's gradients were longer than the clip norm. Each of them adds 1 and every other one 0, so one record moves
/// c_t by at most 1, whether it is taken away or another one is put in its place. The sum is a function of the noisy
/// values of the steps.
class ClippedCount {
 public:
  /// Throws InvalidParameter where the grid of the stage cannot hold a 1.
  ClippedCount(const noise::Grid& grid, std::uint64_t release_every);

  /// Adds steps in which `clipped` gradients were clipped, with the noise of each step in units of the grid. A mark
  /// may only be at the end of these steps.
  void add(std::uint64_t clipped, std::span<const std::int64_t> noise) noexcept;
  /// Goes on to the next mark where `steps` is one. It is called after the release at that step.
  void pass(StepCount steps) noexcept;

  /// Σ (c_t + z_t) over the steps from clipped_since() on.
  [[nodiscard]] double sum() const noexcept;

  /// The sums before and behind the last mark, in units of the grid: the state.
  [[nodiscard]] WideUnits before_mark() const noexcept { return before_; }
  [[nodiscard]] WideUnits behind_mark() const noexcept { return behind_; }
  /// Goes on from what these gave.
  void restore(WideUnits before, WideUnits behind) noexcept;

 private:
  double spacing_;
  WideUnits one_;  // a clipped gradient, in units of the grid
  std::uint64_t release_every_;
  WideUnits before_ = 0;
  WideUnits behind_ = 0;
};

}  // namespace nustream::descent
