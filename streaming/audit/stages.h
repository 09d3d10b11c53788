// What a record adds to each stage of a lane, and what the stages' noisy sums were, computed from two consecutive
// iterates.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "nustream/base/units.h"
#include "nustream/lane/lane.h"

namespace nustream::audit {

/// What a record adds to a stage's sum of gradients, or to its sum of second moments.
struct Contribution {
  Eigen::VectorXd clipped;
  double length;  ///< length before it was clipped, in clip norms
};

/// Returns one contribution for each of lane::stages(), at the iterate `theta` of all stages. A record counts
/// `weight` times: its gradients are multiplied by the weight before they are clipped. Two-stage models follow the IV
/// paper, Algorithm 1.
[[nodiscard]] std::vector<Contribution> contributions(const lane::Settings& settings, const Eigen::VectorXd& theta,
                                                      std::span<const double> x, double y, double weight = 1);

/// Turns what one record adds into what a step's `records` of one user add: their sum, each stage clipped as a whole.
void sum_up(std::vector<Contribution>& added, double records);
/// Does so for running sums: all blocks of a user's sum are shortened by one factor.
void sum_up_together(std::vector<Contribution>& added, double records);

/// Moves `theta` by step `step` without noise, where `added` is all that the step sums; it is empty where the step
/// has null records alone. `velocity` is momentum's and is empty before the first step. A first stage without noise
/// is moved by the public rows, all of which are `x` and count `weight` times.
void step_without_noise(const lane::Settings& settings, StepIndex step, const std::vector<Contribution>& added,
                        std::span<const double> x, Eigen::VectorXd& theta, Eigen::VectorXd& velocity,
                        double weight = 1);

/// What the accounting lets an adversary know after a step: the iterate of all stages, and means of second moments
/// that run from step 0.
struct Seen {
  Eigen::VectorXd theta;
  Eigen::VectorXd bread;  ///< isometric triangle; empty where second moments are not kept
  Eigen::VectorXd meat;
  double clipped = 0;  ///< the count of clipped gradients since step `since`; 0 where there is none
  std::uint64_t since = 0;
  std::vector<double> counted{0.0};  ///< the same count from step 0 up to each step (noisy_sums)
  Eigen::VectorXd velocity{};  ///< momentum's, which noisy_sums() computes from iterates; empty without momentum
};

/// What is known before the first step.
[[nodiscard]] Seen seen_at_start(const lane::Settings& settings);
/// What a release shows, where it has the means of every step.
[[nodiscard]] Seen seen_of(const lane::Release& release);

/// Each stage's sum, noise included, in the step `step` that led from `before` to `after`. With momentum it also sets
/// `after.velocity` to (θ_t − θ_{t+1})/η_t, by which the step moved; `after.counted` gets the count up to this step.
[[nodiscard]] std::vector<Eigen::VectorXd> noisy_sums(const lane::Settings& settings, StepIndex step,
                                                      const Seen& before, Seen& after);

}  // namespace nustream::audit
