// What a record adds to each block of running sums, and what the blocks' noisy sums were in one step, told from two
// consecutive states of the sums: the counterpart of audit/stages.h for models that are solved.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audit/stages.h"
#include "nustream/moments/lane.h"

namespace nustream::audit {

/// Where the sums of a step are about, and the radii that they are in units of.
struct Aim {
  moments::Radii radii;
  std::vector<double> centre;  ///< inputs × responses, column by column
};
/// Of a stream's first step.
[[nodiscard]] Aim aim_at_start(const moments::Settings& settings);

/// One for each noised block, in their order and in units of its radius: what a row adds to a step's sums, by the
/// formulas of moments/batch_sums.h in floating-point numbers, without their grid. `length` is 1 where the block is
/// moved as far as one record can, and larger by how much the residual was clipped. A row that counts `weight` times
/// is that row and its target times the root of it. A row that is not finite adds nothing.
[[nodiscard]] std::vector<Contribution> contributions(const moments::Design& design, const Aim& aim,
                                                      std::span<const double> x, double y, double weight = 1);

/// Everything that the accounting lets an adversary see after a step: the sums of the last stage, whether a release
/// shows them or functions of them.
struct SeenSums {
  std::uint64_t stage = 0;     ///< its first step
  Aim aim;                     ///< of that step
  std::vector<double> second;  ///< Σ over all stages, isometric triangle
  std::vector<double> gap;     ///< b − Hθ_c about the aim's centre, inputs × responses
  std::vector<double> spread;  ///< of the stage alone; empty where nothing is kept
};
[[nodiscard]] SeenSums seen_at_start(const moments::Settings& settings);
/// Of a lane that closed a step, and of the sums that its release shows.
[[nodiscard]] SeenSums seen_of(const moments::Lane& lane, moments::NormalEquations shown);

/// Each noised block's sum with its noise in the step that led from `before` to `after`, in units of its radius:
/// b = κ·b_before + what the step added, and H and the spread alike; the centre's move is taken off with H as it is
/// known, noise and all. A stage's spread begins at 0, or, of sums that forget, with what was before it.
[[nodiscard]] std::vector<Eigen::VectorXd> noisy_sums(const moments::Settings& settings, const SeenSums& before,
                                                      const SeenSums& after);

}  // namespace nustream::audit
