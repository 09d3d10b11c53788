// The record that an audit looks for: the longest gradient that the settings let one record have.
#pragma once

#include <string>

#include <Eigen/Core>

#include "config/config.h"

namespace nustream::audit {

/// Lines of the stream's own format, without their newlines.
struct Canary {
  std::string header;         ///< of a CSV with one; else empty
  std::string null;           ///< cannot be used: takes its step with a zero gradient
  std::string record;         ///< its gradient at θ_0 is at least as long as the clip norm
  std::string opposite;       ///< the same with the other sign, for replace-one neighbours
  Eigen::VectorXd direction;  ///< of the gradient of `record`, length 1
};

/// Failure(configuration) where no record that was tried has such a gradient (columns clamped too tightly), or where
/// the model has several stages or classes, or a projection.
[[nodiscard]] Canary find_canary(const config::Config& config);

}  // namespace nustream::audit
