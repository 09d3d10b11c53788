// The private descent loop: it takes noisy clipped steps, many at a time. Source: CDP+ Algorithm 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nustream/descent/packed.h"
#include "nustream/descent/projection.h"
#include "nustream/model/loss.h"
#include "nustream/noise/grid.h"

namespace nustream::descent {

/// Everything about a step except its size, its records and its noise.
struct StepRule {
  model::Loss loss;
  double l2 = 0;  ///< λ of r(θ) = λ/2 ‖θ‖²; for the mean its own ½‖θ‖² is added
  Projection projection;
  std::uint64_t minibatch = 1;  ///< m, the nominal number of records of a step
  double momentum = 0;          ///< μ of the heavy ball, 0 ≤ μ < 1
};

/// Consecutive steps and what they use. Arrays are row-major, and the sizes of the spans must match.
struct Stretch {
  std::span<const double> x;              ///< steps × m × d
  std::span<const double> y;              ///< steps × m
  std::span<const std::int64_t> noise;    ///< steps × d, units of the grid
  std::span<const double> step_sizes;     ///< η_t of each step
  std::span<const double> average_gains;  ///< what Average::weigh() gave for each step
  /// steps × m numbers, finite and ≥ 0, by which each gradient is multiplied before it is clipped. Empty means 1.
  std::span<const double> weights{};

  [[nodiscard]] double weight(std::size_t record) const noexcept { return weights.empty() ? 1 : weights[record]; }
};

namespace kernel {
struct Job;
}

/// An iterate and the rule that moves it:
///
///     θ ← Π(θ − η_t((Σ_i trunc(clip(g_i)/s) + z_t)·s/m + λθ)),
///
/// and with momentum μ > 0, for a velocity v that begins at zero,
///
///     v ← μv + (Σ_i trunc(clip(g_i)/s) + z_t)·s/m + λθ,   θ ← Π(θ − η_t v),
///
/// The noise is in the gradient before the velocity takes the gradient in. So v and θ are functions of the noisy
/// gradients and of nothing else about the records, and momentum costs no privacy. Π leaves v as it is.
///
/// The sum in the bracket is one of saturating 64-bit integers, which is converted to floating point once. Saturation
/// cannot widen the influence of a record, since each addition moves its result by no more than its argument moves.
/// Only ∇f is clipped, not ∇r. A record whose gradient or y is not finite adds nothing; its step is taken all the
/// same.
///
/// The same stretches give the same bits, in one call or in many, on the same machine. Where the loss needs no
/// exponential they give the same bits on any machine: every instruction set runs the same operations in the same
/// order. An iterate that diverges becomes infinite or NaN and stays so; its gradients are zero from then on.
class Loop {
 public:
  /// Begins at `start`, which has d ≥ 1 finite entries. Throws InvalidParameter where the rule or `start` are out of
  /// range, or where the loss has several predictors.
  Loop(const StepRule& rule, const noise::Grid& grid, std::span<const double> start);

  /// Takes stretch.step_sizes.size() steps. `average` is updated with them; it has d entries, or none.
  void run(const Stretch& stretch, std::span<double> average);

  [[nodiscard]] std::span<const double> theta() const noexcept { return {theta_.data(), dimension_}; }
  /// Replaces the iterate by d entries of any value, to restore a state.
  void set_theta(std::span<const double> theta);
  /// The velocity v: d entries, or none without momentum.
  [[nodiscard]] std::span<const double> velocity() const noexcept;
  /// Replaces v by as many entries, to restore a state.
  void set_velocity(std::span<const double> velocity);
  /// How many records had a gradient longer than the clip norm. Only the operator may see it.
  [[nodiscard]] std::uint64_t clipped() const noexcept { return clipped_; }

 private:
  using Kernel = void (*)(kernel::Job&);

  StepRule rule_;
  noise::Grid grid_;
  Kernel kernel_;
  std::size_t dimension_;
  std::uint64_t clipped_ = 0;
  Packed<double> theta_;
  Packed<double> velocity_;          // empty without momentum
  Packed<double> lower_, upper_;     // of a box; empty otherwise
  Packed<std::int64_t> sum_;         // Σ_i of the current step
  std::vector<std::int64_t> units_;  // a gradient outside the range of the fast path
};

}  // namespace nustream::descent
