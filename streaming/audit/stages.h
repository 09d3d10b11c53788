// What a record adds to each stage of a lane, and what the stages' noisy sums were, told from what can be known of
// two consecutive iterates.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "nustream/base/units.h"
#include "nustream/lane/lane.h"

namespace nustream::audit {

/// What a record adds to a stage's sum of gradients (of second moments: to their sum).
struct Contribution {
  Eigen::VectorXd clipped;
  double length;  ///< before it was clipped, in clip norms
};

/// One for each of lane::stages(), at the iterate `theta` of all stages, of a record that counts `weight` times: its
/// gradients are multiplied before they are clipped. A two-stage model's: the IV paper, Algorithm 1.
[[nodiscard]] std::vector<Contribution> contributions(const lane::Settings& settings, const Eigen::VectorXd& theta,
                                                      std::span<const double> x, double y, double weight = 1);

/// θ after step `step` without noise, where a record's `added` (empty: null records alone) is all that the step sums.
/// `velocity` is momentum's, empty before the first step. A first stage without noise is moved by public rows: all
/// are `x`, and count `weight` times.
void step_without_noise(const lane::Settings& settings, StepIndex step, const std::vector<Contribution>& added,
                        std::span<const double> x, Eigen::VectorXd& theta, Eigen::VectorXd& velocity,
                        double weight = 1);

/// What can be known after a step: the iterate of all stages, and means of second moments that run from step 0.
struct Seen {
  Eigen::VectorXd theta;
  Eigen::VectorXd bread;  ///< isometric triangle; empty where there is none
  Eigen::VectorXd meat;
  double clipped = 0;  ///< the count of clipped gradients since step `since`; 0 where there is none
  std::uint64_t since = 0;
  std::vector<double> counted{0.0};  ///< the same from step 0 up to each step (noisy_sums)
  Eigen::VectorXd velocity{};        ///< of momentum, which iterates tell (noisy_sums); empty without
};

/// Before the first step.
[[nodiscard]] Seen seen_at_start(const lane::Settings& settings);
/// Of a release with every step's means.
[[nodiscard]] Seen seen_of(const lane::Release& release);

/// Each stage's sum with its noise in step `step`, which led from `before` to `after`; with momentum `after.velocity`
/// is set to (θ_t − θ_{t+1})/η_t, by which the step moved, and `after.counted` goes on by one.
[[nodiscard]] std::vector<Eigen::VectorXd> noisy_sums(const lane::Settings& settings, StepIndex step,
                                                      const Seen& before, Seen& after);

}  // namespace nustream::audit
