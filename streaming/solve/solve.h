// `nustream solve`: solves other linear models from the sums that a release shows (release.moments). The solution is
// a function of what is public already, so it costs no ρ. The command reads no record, no state and no key, and
// writes nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "error.h"
#include "nustream/inference/interval.h"
#include "publish/release_json.h"
#include "publish/released_sums.h"

namespace nustream::solve {

struct Options {
  std::string release;                ///< file whose last line is the release; empty: the one in the state folder
  std::vector<std::string> features;  ///< names of the features to keep; empty: all
  std::string target;                 ///< feature to explain in the target's place; empty: the target
  double ridge = 0;                   ///< added to the diagonal of H, also for the intercept; in working units
  bool json = false;
};

/// The solution of another model over the same records.
struct Solution {
  std::string target;                                        ///< name of what is explained
  std::vector<std::pair<std::string, double>> coefficients;  ///< in original units
  std::size_t floored = 0;  ///< number of directions that noise hides; the answer is a guess there
  /// An interval for each coefficient, at config.intervals.level. It covers what the same sums come to without their
  /// noise: the answer of these very records, scaled and clipped as they are. It does not cover what other records
  /// would say. Empty where a direction is floored, and where the line does not tell its noise.
  std::vector<inference::Interval> intervals{};
};

/// Solves the regression of `options.target`, or of the settings' target, on the features that are kept, and on the
/// intercept where the model has one.
///
/// Eigenvalues of the chosen part of H below λ·√(d'/d) are raised to that value, where d' of d inputs are chosen and
/// λ = √(2d)·τ is the size of the noise of a d × d matrix (moments/normal_equations.h). Throws Failure(configuration)
/// for a name that is no feature, and Failure(data) where the sums have other sizes than the settings. Models with
/// instrumental variables are solved as solve/instruments.h says.
[[nodiscard]] Solution solve(const config::Config& config, const publish::ShownSums& sums, const Options& options);

/// Reads the release, solves and prints. Settings that are "private" take the values that the release tells. Throws
/// Failure(data) where the release's file ends with a line that shows no sums, that is of another model than the
/// settings, or that does not tell measured values which the settings need.
[[nodiscard]] Exit run(const config::Config& asked, config::Purpose purpose, const Options& options);

}  // namespace nustream::solve
