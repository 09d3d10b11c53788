// Two-stage descent for instrumental variables. Source: the IV paper, Algorithm 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nustream/descent/projection.h"
#include "nustream/noise/grid.h"

namespace nustream::descent {

class GradientSum;

/// Says which numbers of a row are instruments, controls and regressors. A row is [z, x]: first the q instruments,
/// beginning with the exogenous controls (the intercept among them), then the endogenous regressors.
struct TwoStageShape {
  std::size_t instruments = 0;  ///< q, including the controls
  std::size_t controls = 0;     ///< how many of the first entries of z enter the second stage as they are
  std::size_t endogenous = 0;

  [[nodiscard]] std::size_t row() const noexcept { return instruments + endogenous; }
  /// p, the number of coefficients of the second stage, of which the controls come first.
  [[nodiscard]] std::size_t second_stage() const noexcept { return endogenous + controls; }
  /// q × endogenous, the number of coefficients of the first stage: one column for each endogenous regressor.
  [[nodiscard]] std::size_t first_stage() const noexcept { return instruments * endogenous; }
  [[nodiscard]] std::size_t dimension() const noexcept { return second_stage() + first_stage(); }
};

/// Everything about a step except its sizes, its records and its noise.
struct TwoStageRule {
  TwoStageShape shape;
  double l2 = 0;          ///< λ of the second stage's regulariser λ/2 ‖β‖²
  double first_l2 = 0;    ///< the same for the first stage
  Projection projection;  ///< applied to β
  std::uint64_t minibatch = 1;
};

/// Consecutive steps of both stages.
struct TwoStageStretch {
  std::span<const double> x;                  ///< steps × m × row()
  std::span<const double> y;                  ///< steps × m
  std::span<const std::int64_t> noise;        ///< noise of the second stage, steps × p, units of its grid
  std::span<const std::int64_t> first_noise;  ///< noise of the first stage, steps × first_stage(); empty where the
                                              ///< rows are public
  std::span<const double> step_sizes;         ///< α_t
  std::span<const double> first_step_sizes;   ///< η_t
  std::span<const double> average_gains;
  std::span<const double> weights{};  ///< as in Stretch, for both stages; empty means 1
};

/// An iterate [β, Θ] and the rule that moves it. Both stages use the iterates of step t:
///
///     Θ ← Θ − η((Σ_i trunc(clip_γ1(z_i (Θᵀz_i − x_i)ᵀ)/s_1) + z_1)·s_1/m + λ_1 Θ),
///     β ← Π(β − α((Σ_i trunc(clip_γ2(x̂_i (x̂_iᵀβ − y_i))/s_2) + z_2)·s_2/m + λ_2 β)),   x̂ = [controls, Θᵀz].
///
/// Controls are among the instruments, so they are their own projections on them, and the first stage need not learn
/// them. Each stage clips on its own, and has its own grid and noise; the influence of a record is γ1 and γ2.
///
/// If the rows are public and only y is private (Algorithm 3), the first stage is plain descent without clip, grid
/// and noise. A record whose y is NaN then takes its first-stage step like any other, since Θ_t is a function of
/// public rows.
class TwoStageLoop {
 public:
  /// Throws InvalidParameter where the rule, `start` or the shape are out of range, for example where there are fewer
  /// instruments than regressors. `first` is null where the rows are public.
  TwoStageLoop(const TwoStageRule& rule, const noise::Grid& second, const noise::Grid* first,
               std::span<const double> start);
  ~TwoStageLoop();
  TwoStageLoop(TwoStageLoop&&) noexcept;
  TwoStageLoop& operator=(TwoStageLoop&&) noexcept;

  /// Takes the steps of both stages. `average` has shape.dimension() entries, or none, and is updated with them.
  void run(const TwoStageStretch& stretch, std::span<double> average);

  /// The iterate [β, Θ], with Θ column by column.
  [[nodiscard]] std::span<const double> theta() const noexcept { return theta_; }
  /// Replaces the iterate by as many entries, to restore a state.
  void set_theta(std::span<const double> theta);
  /// Two-stage descent takes plain steps, so it has no velocity. The functions stand in for those of Loop.
  [[nodiscard]] static std::span<const double> velocity() noexcept { return {}; }
  static void set_velocity(std::span<const double> /*none*/) noexcept {}
  /// How many gradients were longer than the clip norm, counted in each stage. Only the operator may see it.
  [[nodiscard]] std::uint64_t clipped() const noexcept { return clipped_; }

 private:
  void add_records(std::span<const double> rows, std::span<const double> y, const double* weights);
  void step_public(std::span<double> first_stage, double step_size);

  TwoStageRule rule_;
  double gradient_per_unit_;
  double first_gradient_per_unit_ = 0;
  std::uint64_t clipped_ = 0;
  std::vector<double> theta_;
  std::vector<double> fitted_;     // x̂
  std::vector<double> residuals_;  // residuals of the first stage
  std::unique_ptr<GradientSum> sum_;
  std::unique_ptr<GradientSum> first_sum_;  // null where the rows are public
  std::vector<std::int64_t> units_;         // the kernel adds to these, in whole packs
  std::vector<std::int64_t> first_units_;
  std::vector<double> public_sum_;  // sum of public first-stage gradients
};

}  // namespace nustream::descent
