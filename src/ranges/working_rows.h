// Rows of a part as the stages behind the columns see them: placed, whitened, and measured by their lengths.
#pragma once

#include <Eigen/Core>

#include <functional>
#include <span>

#include "nustream/ranges/histogram.h"
#include "ranges/column_stage.h"
#include "ranges/part_sums.h"

namespace nustream::ranges {

/// A smaller noisy share of rows is no table to fit.
inline constexpr double hardly_usable = 0.1;

/// Rows in placed and whitened coordinates. What it is made with outlives it.
class WorkingRows {
 public:
  WorkingRows(Rows& rows, const TableFit& fit);

  [[nodiscard]] Eigen::Index dimension() const { return static_cast<Eigen::Index>(fit_.placements.size()); }
  void whiten(const Eigen::MatrixXd& matrix) { whiten_ = matrix; }

  [[nodiscard]] bool are_weighted() const { return !rows_.table.weights.empty(); }

  /// A row without one of its numbers, or without a weight, has a target that is no number.
  void each(const Part& part, const AddRow& add);

 private:
  std::span<const double> unusable();

  Rows& rows_;
  const TableFit& fit_;
  Eigen::VectorXd placed_;
  Eigen::VectorXd whitened_;
  Eigen::MatrixXd whiten_;
};

/// What is measured of a row, as many numbers ≥ 0 as there are histograms: of its working inputs and its target.
using Lengths =
    std::function<void(const Eigen::Ref<const Eigen::VectorXd>& inputs, double target, std::span<double> lengths)>;

/// One release of histograms of lengths, each times the root of its row's weight, over the rows of `part`, at
/// settings.rho; unusable rows are in none of them.
[[nodiscard]] NoisyCounts measure(WorkingRows& rows, const Part& part, std::size_t histograms, const Lengths& lengths,
                                  const FitSettings& settings, KeyStage stage, const DrawNoise& draw);

}  // namespace nustream::ranges
