// What a record adds to each block of running sums, and what the blocks' noisy sums were in one step, computed from
// two consecutive states of the sums. It is the counterpart of audit/stages.h for models that are solved.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audit/stages.h"
#include "nustream/moments/lane.h"

namespace nustream::audit {

/// The point that the sums of a step are taken about, and the radii that are their units.
struct Aim {
  moments::Radii radii;
  std::vector<double> centre;  ///< inputs × responses, column by column
};
/// The aim of a stream's first step.
[[nodiscard]] Aim aim_at_start(const moments::Settings& settings);

/// What a row adds to a step's sums: one contribution for each noised block, in the blocks' order and in units of the
/// block's radius. It follows the formulas of moments/batch_sums.h in floating-point numbers, without their grid.
/// `length` is 1 where the block is moved as far as one record can move it, and larger by how much the residual was
/// clipped. A row that counts `weight` times is the row and its target multiplied by √weight. A row that is not
/// finite adds nothing.
[[nodiscard]] std::vector<Contribution> contributions(const moments::Design& design, const Aim& aim,
                                                      std::span<const double> x, double y, double weight = 1);

/// Everything that the accounting lets an adversary see after a step: the sums of the last stage, whether a release
/// shows them or functions of them.
struct SeenSums {
  std::uint64_t stage = 0;     ///< first step of the last stage
  Aim aim;                     ///< aim of the last stage
  std::vector<double> second;  ///< Σ over all stages, isometric triangle
  std::vector<double> gap;     ///< b − Hθ_c about the aim's centre, inputs × responses
  std::vector<double> spread;  ///< of the last stage alone; empty where no spread is kept
};
[[nodiscard]] SeenSums seen_at_start(const moments::Settings& settings);
/// What is seen of a lane that closed a step; `shown` are the sums that its release shows.
[[nodiscard]] SeenSums seen_of(const moments::Lane& lane, moments::NormalEquations shown);

/// Each noised block's sum, noise included, in the step that led from `before` to `after`, in units of the block's
/// radius. The step computed b = κ·b_before + what it added, and H and the spread in the same way; this function
/// inverts that. Where the centre moved, the move is taken off with the known H, noise included. A stage's
/// spread begins at 0. Where sums forget, it begins with what was before it.
[[nodiscard]] std::vector<Eigen::VectorXd> noisy_sums(const moments::Settings& settings, const SeenSums& before,
                                                      const SeenSums& after);

}  // namespace nustream::audit
