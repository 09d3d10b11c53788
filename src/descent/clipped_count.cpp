// A stage of a lane by itself: a count with a sensitivity of 1 and with its own noise. Two sums are kept, before and
// behind the last mark, so that the shown stretch can grow without being summed again.
#include "nustream/descent/clipped_count.h"

#include <bit>

#include "base/shown.h"
#include "descent/private_step.h"
#include "nustream/base/error.h"

namespace nustream::descent {
namespace {

/// A 1 in units of the grid. It is exact, because the spacing is a power of two.
WideUnits one_on(const noise::Grid& grid) {
  if (!(grid.spacing() <= 1)) {
    throw InvalidParameter("grid of the clipped gradients", "a spacing of " + shown(grid.spacing()),
                           "at most 1: less noise, that is a larger share of rho");
  }
  return static_cast<WideUnits>(1 / grid.spacing());
}

}  // namespace

StepCount clipped_since(StepCount steps, std::uint64_t every) noexcept {
  // A mark at the present step is passed only after it: it does not end the stretch that is shown there.
  const std::uint64_t releases = steps.value() == 0 ? 0 : (steps.value() - 1) / every;
  // The last mark that was passed is at bit_floor(releases), and the stretch begins at the one before it.
  return StepCount{std::bit_floor(releases) / 2 * every};
}

ClippedCount::ClippedCount(const noise::Grid& grid, std::uint64_t release_every)
    : spacing_(grid.spacing()), one_(one_on(grid)), release_every_(release_every) {}

void ClippedCount::add(std::uint64_t clipped, std::span<const std::int64_t> noise) noexcept {
  behind_ += static_cast<WideUnits>(clipped) * one_;
  for (const std::int64_t units : noise) behind_ = noised(behind_, WideUnits{units});
}

void ClippedCount::pass(StepCount steps) noexcept {
  const std::uint64_t releases = steps.value() / release_every_;
  if (steps.value() % release_every_ != 0 || !std::has_single_bit(releases)) return;
  // The older of the two sums leaves the stretch, and the younger takes its place.
  before_ = behind_;
  behind_ = 0;
}

double ClippedCount::sum() const noexcept {
  return static_cast<double>(before_ + behind_) * spacing_;
}

void ClippedCount::restore(WideUnits before, WideUnits behind) noexcept {
  before_ = before;
  behind_ = behind;
}

}  // namespace nustream::descent
