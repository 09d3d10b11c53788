// Solves models with instrumental variables from the sums that a release shows.
#pragma once

#include "solve/solve.h"

namespace nustream::solve {

/// Two-stage least squares on those controls and instruments that the options keep; the endogenous regressors always
/// stay. Without options it is the release's own estimate. The solution is empty of coefficients where noise hides a
/// direction of the instruments, or the fitted regressors are collinear. There are no intervals: the release shows no
/// noise of such sums, and its Anderson–Rubin set is what holds whatever the instruments are worth.
///
/// Throws Failure(configuration) for another target, for a ridge, and where fewer instruments than regressors are
/// kept.
[[nodiscard]] Solution solve_instruments(const config::Config& config, const publish::ShownSums& sums,
                                         const Options& options);

}  // namespace nustream::solve
