// One private release of a likelihood's curvature and score over the rows of a part.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <vector>

#include "nustream/ranges/likelihood_fit.h"

namespace nustream::ranges {

/// E y and its derivative by the predictor, which for these links is the variance of y as well.
struct Expected {
  double mean;
  double weight;
};
[[nodiscard]] Expected expected(Likelihood likelihood, double predictor) noexcept;

/// R_x, R_r and K: how far a row can reach.
struct ScoreBounds {
  double inputs = 0;
  double residuals = 0;
  double curvature = 0;
};

/// Integers on a grid of `spacing`, which outlast 2^64 rows.
__extension__ typedef __int128 WideUnits;

/// Σ v w xxᵀ and Σ √v·clip(√v (y − μ), ±R_r)·x at a θ, each with noise. A row that counts ω times enters as √ω·x and
/// √ω·(y − μ) do, before anything is bounded.
///
/// Guarantee: ρ-zCDP for one record at the whole `rho`, curvature_share of it for the curvature and the rest for the
/// score (composition). With v = min(1, R_x²/‖x‖², K/(w‖x‖²)) a record's curvature has Frobenius norm ≤ K, kept as a
/// triangle whose norm that is, and its score ‖·‖₂ ≤ R_x·R_r. Δ = K and R_x·R_r under zero-out; under replace-one
/// √2·K (two positive semi-definite matrices have ⟨A, B⟩ ≥ 0) and 2·R_x·R_r. What truncation to the grid can undo of
/// that is taken off K first.
class ScoreSums {
 public:
  static constexpr double curvature_share = 0.35;

  /// `theta`: a function of earlier releases. Throws InvalidParameter where noise leaves the grid's range.
  ScoreSums(Likelihood likelihood, const ScoreBounds& bounds, privacy::Adjacency adjacency, Rho rho,
            const Eigen::VectorXd& theta);

  /// A row whose length or target is not finite adds nothing.
  void add(const Eigen::Ref<const Eigen::VectorXd>& inputs, double target, double times = 1) noexcept;

  struct Released {
    Eigen::MatrixXd curvature;
    Eigen::VectorXd score;
    double curvature_stddev;  ///< τ, of a diagonal entry; beside it τ/√2
    double score_stddev;
  };
  /// Once: `draw` gives a stage's noise once.
  [[nodiscard]] Released release(const DrawNoise& draw, KeyStage curvature, KeyStage score) const;

 private:
  struct Block {
    NoiseStddev stddev;
    noise::Grid grid;
    double units;  ///< of the grid in 1, times the room that rounding takes
    std::vector<WideUnits> sums;
  };
  static Block block(double norm, double displacement, Rho rho, std::size_t entries, double room);
  static std::vector<double> noisy(const Block& block, const DrawNoise& draw, KeyStage stage);

  Likelihood likelihood_;
  ScoreBounds bounds_;
  Eigen::VectorXd theta_;
  Block curvature_;
  Block score_;
};

}  // namespace nustream::ranges
