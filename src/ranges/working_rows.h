// The rows of a part as the stages after the columns see them: placed, whitened, and measured by their lengths.
#pragma once

#include <Eigen/Core>

#include <functional>
#include <span>

#include "nustream/ranges/histogram.h"
#include "nustream/ranges/noise_draws.h"
#include "nustream/ranges/sizes.h"
#include "nustream/ranges/table_fit.h"
#include "ranges/part_sums.h"
#include "ranges/user_runs.h"

namespace nustream::ranges {

/// Finds out which columns the model has and where they lie. Fills shares, features, unusable_column, placements,
/// intervals, zooms and is_stopped.
void place_columns(Rows& rows, const Sizes& sizes, const FitSettings& settings, const DrawNoise& draw, TableFit& fit);

/// A table with a smaller noisy share of usable rows is not fitted.
inline constexpr double hardly_usable = 0.1;

/// Rows in placed and whitened coordinates. `rows` and `fit` must outlive this object.
class WorkingRows {
 public:
  WorkingRows(Rows& rows, const TableFit& fit);

  [[nodiscard]] Eigen::Index dimension() const { return static_cast<Eigen::Index>(fit_.placements.size()); }
  void whiten(const Eigen::MatrixXd& matrix) { whiten_ = matrix; }

  [[nodiscard]] bool are_weighted() const { return !rows_.table.weights.empty(); }

  /// Whether the unit of privacy is the user.
  [[nodiscard]] bool are_of_users() const { return rows_.are_of_users(); }

  /// Hands over each row of the part, as Rows::each() does. A row that lacks one of its numbers or its weight has a
  /// target of NaN.
  void each(const Part& part, const AddRow& add, const EndUser& end);
  /// Hands over the row at a position.
  void at(std::uint64_t position, const AddRow& add);
  [[nodiscard]] const Rows& rows() const { return rows_; }

 private:
  std::span<const double> unusable();

  Rows& rows_;
  const TableFit& fit_;
  Eigen::VectorXd placed_;
  Eigen::VectorXd whitened_;
  Eigen::MatrixXd whiten_;
};

/// The bins of one row, from its working inputs, its target and its weight: one for each histogram, or no_bin.
using RowBins = std::function<void(const Eigen::Ref<const Eigen::VectorXd>& inputs, double target, double weight,
                                   std::span<std::size_t> bins)>;

/// Makes one release at `rho` of the histograms of `design` over the rows of `part`. Unusable rows are in none of
/// them.
[[nodiscard]] NoisyCounts count(WorkingRows& rows, const Part& part, const HistogramDesign& design, Rho rho,
                                const RowBins& bins_of, KeyStage stage, const DrawNoise& draw);

/// What is measured of a row from its working inputs and its target: as many numbers ≥ 0 as there are histograms.
using Lengths =
    std::function<void(const Eigen::Ref<const Eigen::VectorXd>& inputs, double target, std::span<double> lengths)>;

/// Makes one release at settings.rho of histograms of lengths, each multiplied by the root of its row's weight, over
/// the rows of `part`. Unusable rows are in none of the histograms.
[[nodiscard]] NoisyCounts measure(WorkingRows& rows, const Part& part, std::size_t histograms, const Lengths& lengths,
                                  const FitSettings& settings, KeyStage stage, const DrawNoise& draw);

}  // namespace nustream::ranges
