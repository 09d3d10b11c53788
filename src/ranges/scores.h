// One private release of a likelihood's curvature and score over the rows of a part.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nustream/ranges/likelihood_fit.h"
#include "ranges/user_runs.h"

namespace nustream::ranges {

/// Predictors are cut off here: e^300 is far from overflow, and no count is near it.
inline constexpr double largest_predictor = 300;

/// E y and its derivative by the predictor. For these links the derivative is also the variance of y.
struct Expected {
  double mean;
  double weight;
};
[[nodiscard]] Expected expected(Likelihood likelihood, double predictor) noexcept;

/// R_x, R_r and K, which bound how far a row can move the sums.
struct ScoreBounds {
  double inputs = 0;
  double residuals = 0;
  double curvature = 0;
};

/// Integers on a grid of `spacing`. They can hold the sums of 2^64 rows.
__extension__ typedef __int128 WideUnits;

/// Σ v w xxᵀ and Σ √v·clip(√v (y − μ), ±R_r)·x at a θ, each with noise. A row that counts ω times enters with √ω·x
/// and √ω·(y − μ), before anything is bounded.
///
/// Guarantee: ρ-zCDP for one record at the whole `rho`, of which the curvature gets curvature_share and the score the
/// rest (composition). With v = min(1, R_x²/‖x‖², K/(w‖x‖²)) a record's curvature has a Frobenius norm ≤ K, and it is
/// kept as a triangle that has this norm; the norm of its score is ≤ R_x·R_r. So Δ is K and R_x·R_r under zero-out.
/// Under replace-one it is √2·K (two positive semi-definite matrices have ⟨A, B⟩ ≥ 0) and 2·R_x·R_r. Truncation to
/// the grid may violate these bounds a little, so contributions are shortened by that much first.
///
/// Where the unit is the user, the guarantee is for all records of one user: their curvatures and scores are summed,
/// and both sums are shortened by one factor, to K and R_x·R_r (UserSums). Under replace-one Δ is then 2·K and
/// 2·R_x·R_r, by the triangle inequality alone.
class ScoreSums {
 public:
  static constexpr double curvature_share = 0.35;

  /// `theta` must be a function of earlier releases. Throws InvalidParameter where the noise leaves the range of the
  /// grid.
  ScoreSums(Likelihood likelihood, const ScoreBounds& bounds, privacy::Neighbours neighbours, Rho rho,
            const Eigen::VectorXd& theta);

  /// Adds a row that counts `times` times. A row whose length or target is not finite adds nothing. Where the unit is
  /// the user, it is a row of the user whose turn it is, which end_user() ends.
  void add(const Eigen::Ref<const Eigen::VectorXd>& inputs, double target, double times = 1) noexcept;

  void end_user();

  struct Released {
    Eigen::MatrixXd curvature;
    Eigen::VectorXd score;
    double curvature_stddev;  ///< τ, for a diagonal entry; τ/√2 elsewhere
    double score_stddev;
  };
  /// May be called once, because `draw` gives the noise of a stage once.
  [[nodiscard]] Released release(const DrawNoise& draw, KeyStage curvature, KeyStage score) const;

 private:
  struct Block {
    NoiseStddev stddev;
    noise::Grid grid;
    double units;  ///< units of the grid per 1, reduced by the room that rounding takes
    std::vector<WideUnits> sums;
  };
  static Block block(double norm, double displacement, Rho rho, std::size_t entries, double room);
  [[nodiscard]] bool set_row(const Eigen::Ref<const Eigen::VectorXd>& inputs, double target, double times,
                             double curvature_units, double score_units) noexcept;
  template <class Entry>
  void add_to_sums(std::span<const Entry> entries) noexcept;
  static std::vector<double> noisy(const Block& block, const DrawNoise& draw, KeyStage stage);

  Likelihood likelihood_;
  ScoreBounds bounds_;
  Eigen::VectorXd theta_;
  Block curvature_;
  Block score_;
  std::optional<UserSums> user_;  ///< set where the unit is the user
  std::vector<double> row_;       ///< what a row adds: its curvature, then its score
};

/// How many records have the rarer of two labels, roughly, and the deviation of the noise in that.
struct RarerLabel {
  double count = 0;
  double stddev = 0;

  [[nodiscard]] bool is_seen() const { return count > octave_threshold * stddev; }
};
/// The number of records with the rarer label, from noisy sums at a θ; `constant` is the direction whose inner
/// product with every row is 1. With μ the probability of a 1, the sums' parts along it are Σ v μ(1−μ) and Σ v (y−μ).
/// Their sum is Σ v (y − μ²), about the number of ones where ones are rare, and their difference is about the number
/// of zeros where zeros are rare. Both are far from 0 where neither is rare, unless the labels are nearly separated
/// by the inputs. Both sums have noise already, so the count is post-processing.
[[nodiscard]] RarerLabel rarer_label(const ScoreSums::Released& found, const Eigen::VectorXd& constant);

/// The noisy mean of counts over that of the model: along the constant the sums' parts are Σ v μ and Σ v (y−μ). It is
/// 0 where noise hides the former.
[[nodiscard]] double ratio_of_means(const ScoreSums::Released& found, const Eigen::VectorXd& constant);

}  // namespace nustream::ranges
