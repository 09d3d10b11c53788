// What the privacy noise leaves in a descent of a known number of steps, on average over these steps, and the least
// that any correlation could leave. Notation: docs/notation.md.
#pragma once

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/plan.h"
#include "nustream/privacy/stationary.h"

namespace nustream::privacy {

/// The mean over the iterates after step 1, 2, …, `steps` of the excess that the noise causes in a descent that
/// begins without noise in the iterate. The noise is what `budget` allows this correlation. For gaussian_features it
/// contains what x xᵀ multiplies in; it is exact for both curvatures. O(steps · d).
///
/// Throws Unsupported where B is not Toeplitz, and as calibrated_stddev() does.
[[nodiscard]] double mean_excess(const noise::Correlation& correlation, const LocalProblem& problem,
                                 const Budget& budget, StepCount steps);

/// No correlation, Toeplitz or not, has a mean_excess() below this over `steps` steps, at the same ρ and Δ, whatever
/// the participations. It is a lower bound that comes near the limit of long streams, least_excess(), as steps grow;
/// the noise that x xᵀ multiplies in is left out of it. Over a handful of steps it is well below what any correlation
/// can reach. O(steps · d).
///
/// Let V be the matrix that maps the noise to the weighted iterates, with all directions one below the other. The sum
/// of errors is ‖VB‖², and ‖VB‖ ‖B⁻¹‖ ≥ ‖V‖_* (the sum of singular values) ≥ tr(VU) for every U that lengthens no
/// vector. U is cut out of the circulant matrix of v*(ω)/|v(ω)|, where v is the response of an endless descent.
[[nodiscard]] double least_mean_excess(const LocalProblem& problem, Rho rho, Displacement displacement,
                                       StepCount steps);

}  // namespace nustream::privacy
