// `nustream solve`: other linear models from the sums that a release shows (release.moments). What is computed here
// is a function of what is public already: it costs no ρ, reads no record, no state and no key, and writes nothing.
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
  std::string release;                ///< file whose last line is the release; empty: the state folder's own
  std::vector<std::string> features;  ///< names of those that are kept; empty: all
  std::string target;                 ///< name of a feature to explain in the target's place; empty: the target
  double ridge = 0;                   ///< added to the diagonal of H, of the intercept too; working units
  bool json = false;
};

/// A model of the same records.
struct Solution {
  std::string target;                                        ///< what is explained
  std::vector<std::pair<std::string, double>> coefficients;  ///< in original units
  std::size_t floored = 0;  ///< directions that noise hides: the answer is a guess there
  /// Of each coefficient, at config.intervals.level. They cover what the same sums come to without their noise: the
  /// answer of these very records, scaled and clipped as they are; what other records would say is not in them. Empty
  /// where a direction is floored, and where the line does not tell of its noise.
  std::vector<inference::Interval> intervals{};
};

/// The regression of `options.target`, or of the settings' target, on the features that are kept and the intercept
/// where the model has one.
///
/// Eigenvalues of the chosen part of H below λ·√(d'/d) are raised to it, d' of d inputs chosen: λ = √(2d)·τ is that
/// of the noise of a matrix of that size (moments/normal_equations.h). Failure(configuration) for a name that is no
/// feature, and for instrumental variables; Failure(data) where the sums have other sizes than the settings.
[[nodiscard]] Solution solve(const config::Config& config, const publish::ShownSums& sums, const Options& options);

/// Reads the release, solves and prints. Failure(data) where its last line shows no sums, or is of another model than
/// the settings.
[[nodiscard]] Exit run(const config::Config& config, const Options& options);

}  // namespace nustream::solve
