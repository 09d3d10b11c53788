// The coordinates that a fit works in: columns are placed, then whitened by the pilot. It also gives the way back.
#pragma once

#include <Eigen/Core>

#include <span>
#include <vector>

#include "nustream/ranges/table_fit.h"

namespace nustream::ranges {

/// A symmetric W and its inverse. For the noisy, floored second moments H per record, W H W is about the identity.
struct Whitening {
  Eigen::MatrixXd whiten;
  Eigen::MatrixXd restore;
};
[[nodiscard]] Whitening no_whitening(std::size_t dimension);
/// The whitening W = U diag(max(e, λ)/n)^(−½) Uᵀ for H = U diag(e) Uᵀ, where n is H's first entry (that of the
/// intercept) and λ the floor. Directions that noise hides count as if they were as long as the floor. H must be
/// finite.
[[nodiscard]] Whitening whitening_of(std::span<const double> second, std::size_t dimension, double floor);

/// Gives θ in original units from θ in working units. In working units y = offset + scale·xᵀθ with x_0 = 1 and x_j =
/// (v_j − c_j)/s_j. The result is θ_original = Aθ + (offset, 0, …), A being `matrix`.
struct WayBack {
  Eigen::MatrixXd matrix;
  double offset;
};
[[nodiscard]] WayBack way_back(std::span<const Placement> placements);

/// Brings what a fit found in units of the public bounds into the table's own units. Weights are then ωT times as
/// large, for the bounds ω of weights and T of exposures, and rates are 1/T times as large.
void to_table_units(const PublicUnits& units, TableFit& fit);

/// The coefficients that lie along hidden directions by more than a little. `directions` is an orthonormal basis of
/// working coordinates, of which the first `hidden` columns are hidden. A coefficient is found where its row of
/// `to_original` has a hundredth or more of its squared length along those columns, which is a tenth of its length.
/// The scale of a coefficient does not matter. All of it is post-processing of noisy second moments.
[[nodiscard]] std::vector<std::size_t> undetermined(const Eigen::MatrixXd& directions, std::size_t hidden,
                                                    const Eigen::MatrixXd& to_original);

/// The roots of a covariance's diagonal.
[[nodiscard]] std::vector<double> deviations(const Eigen::MatrixXd& covariance);

}  // namespace nustream::ranges
