// Decides, at certain steps of a stream, which inputs have outgrown their scales, which bounds suit the new units,
// and about which centre the stage behind them begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nustream/moments/estimate.h"
#include "nustream/moments/running_sums.h"

namespace nustream::moments {

/// No scale grows further than this.
inline constexpr double largest_scale = 0x1p40;
/// Where units grow, no more stages than these begin: a lane keeps the sums of each of them.
inline constexpr std::size_t grown_stages_max = 12;

/// The noisy sums that the newest stage had when its units were last looked at. The steps since are the window in
/// which a growth shows.
struct Looked {
  std::uint64_t step = 0;
  std::vector<double> diagonal;  ///< of Σ xxᵀ, in the newest stage's units
  double squares = 0;            ///< Σ clip(r)², in the unit of the spread's entry; 0 where no spread is kept

  friend bool operator==(const Looked&, const Looked&) = default;
};
/// What is to be kept after `steps` steps, for the next look. A stage without a step has seen nothing.
[[nodiscard]] Looked look(const RunningSums& sums, const Frame& frame, StepCount steps);

/// What the rows of a stage are measured in.
struct StageUnits {
  Radii radii;
  std::vector<double> scales;  ///< powers of two, never below those of the stage before; empty: all of them are 1
  bool have_grown = false;     ///< whether a scale or R_x is another one than before
};

/// The units that suit the window from `before` up to now, from noisy sums and public figures alone. Empty where the
/// present ones suit it. Settings that were found on a first part of a stream do not know what comes later, and this
/// makes up for it.
///
/// - An input's scale is multiplied by the power of two nearest to the root of its mean square, H_jj/H_00, where that
///   mean square is at least 4. The figure is a lower bound: three standard deviations of the noise are taken from
///   H_jj and added to H_00, which is never above the number of records. So noise may hide a growth, but hardly makes
///   one. A scale never shrinks: one that is too small loses rows, and one that is too large costs some noise.
/// - R_x is raised to 1.75 times the root of the mean squared length of rows in the new units, but not above 2√d. The
///   mean is bounded from below in the same way. R_x never shrinks, and stays where it would grow by less than a
///   tenth.
/// - Where the spread of residuals is kept, R_r becomes 3 times the root of the noisy mean of clip(r)², within a
///   fourth and four times what it was. It stays where noise hides that mean, and where it would change by less than
///   a fourth.
///
/// Contract: plain sums of a linear model of records without weights, an intercept, which frame.constant names, and a
/// step since `before`. `variance` is that of the noise of a sum over these steps, per unit of the seed noise's
/// variance.
[[nodiscard]] std::optional<StageUnits> grown_units(const RunningSums& sums, const Frame& frame, const Looked& before,
                                                    double variance, StepCount steps);

/// The centre of a stage whose units have grown, in the newest stage's units: c + f(θ̂ − c), where c is the centre
/// before and f = max(0, 1 − (d − 2)/D²), D² = (θ̂ − c)ᵀC⁻¹(θ̂ − c), with the covariance C of θ̂ by privacy noise.
/// (James and Stein's estimator.) So the centre stays where noise explains the distance: sums about a centre that
/// noise moved away would hold that noise for ever. It is a function of noisy sums. `found` is estimate() of these
/// sums.
[[nodiscard]] std::vector<double> shrunken_centre(const RunningSums& sums, const Frame& frame,
                                                  std::span<const double> covariance, const Estimate& found);

/// An input whose scale has grown.
struct GrownInput {
  std::size_t input;
  double factor;      ///< what its scale was multiplied by in all
  std::size_t times;  ///< at how many stages it grew

  friend bool operator==(const GrownInput&, const GrownInput&) = default;
};
/// Those whose scales have grown, in the order of the inputs.
[[nodiscard]] std::vector<GrownInput> grown_inputs(const std::vector<StageSums>& stages);

/// A centre of the units of `before` in units of the scales (empty: all 1), which have grown since.
[[nodiscard]] std::vector<double> in_units_of(std::span<const double> scales, const StageSums& before,
                                              std::vector<double> centre);
/// θ of the newest stage's units in working ones: (x/scale)·θ is x·(θ/scale).
[[nodiscard]] std::vector<double> in_working_units(std::vector<double> theta, const StageSums& newest);
/// Directions a of aᵀθ, row-major · × inputs, in the newest stage's units. None are the unit vectors.
[[nodiscard]] std::vector<double> directions_in_units_of(const StageSums& newest, std::vector<double> directions,
                                                         std::size_t inputs);

}  // namespace nustream::moments
