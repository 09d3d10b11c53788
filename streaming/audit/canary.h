// The record that an audit looks for: the longest gradient that the settings let one record have.
#pragma once

#include <span>
#include <string>

#include <Eigen/Core>

#include "audit/shape.h"
#include "config/config.h"

namespace nustream::audit {

/// Lines of the stream's own format, without their newlines.
struct Canary {
  std::string header;    ///< of a CSV with one; else empty
  std::string null;      ///< cannot be used: takes its step with a zero gradient
  std::string record;    ///< its gradient at θ_0 is at least as long as the clip norm
  std::string opposite;  ///< the same with the other sign, for replace-one neighbours
};

/// Of the records that are tried, the first whose gradient stays at least four clip norms long in the steps that it
/// takes part in, along the path without noise; else the one whose gradient stays longest. Failure(configuration)
/// where none has a gradient as long as the clip norm (columns clamped too tightly), or where the model has several
/// stages.
[[nodiscard]] Canary find_canary(const config::Config& config, const GameShape& shape);

/// What a record adds to a step's sum of gradients.
struct Contribution {
  Eigen::VectorXd clipped;
  double length;  ///< before it was clipped
};
[[nodiscard]] Contribution contribution(const lane::Settings& settings, const Eigen::VectorXd& theta,
                                        std::span<const double> x, double y);

/// What the regularisers, and the mean's own, add to a gradient, outside the clip.
[[nodiscard]] Eigen::VectorXd regulariser(const lane::Settings& settings, const Eigen::VectorXd& theta);

}  // namespace nustream::audit
