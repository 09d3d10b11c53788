// What `nustream plan` expects of a descent over a table: the part of its start that is left, the noise, the best
// number of steps, and a clip norm that clips nothing. It uses public guesses (plan.*) alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/mechanism.h"
#include "engine/table_design.h"

namespace nustream::cli {

/// What is expected after one number of steps.
struct TableError {
  double left;                  ///< share of the distance from start to answer that is left, in the slowest direction
  std::optional<double> error;  ///< √E‖θ_T − answer‖², working units; empty where plan.distance is not set
  double noise_per_clip;        ///< κ: Σ_j λ_j times the variance in direction j, for a clip norm of 1
};

/// Predicts the error where nothing is clipped (DP-GD paper, Lemma 2.3). The distance is assumed to be the same in
/// every direction. What is left of the start is the most that eigenvalues near the guess leave. Empty where there is
/// no formula: for losses other than the mean and the linear one, for two stages, and for users.
[[nodiscard]] std::optional<TableError> table_error(const config::Config& config, const config::Mechanism& mechanism,
                                                    const engine::TableDesign& design);

/// Says in words for which eigenvalues the most is left of the start.
[[nodiscard]] std::string assumed_of_start(const config::Config& config);

struct TableSuggestion {
  std::uint64_t steps;  ///< the number with the least expected error, 1 … 4,096
  double error;
};

/// Asks for the error at growing numbers of steps, and then between the two that enclose the least error. Empty where
/// no error is known.
[[nodiscard]] std::optional<TableSuggestion> suggested_steps(
    const std::function<std::optional<double>(std::uint64_t steps)>& error_at);

/// Suggests a clip norm, for which plan.residual and plan.distance are needed. Empty where there is no formula.
struct ClipSuggestion {
  std::optional<double> clip_norm;  ///< empty: with every clip norm the noise is too large
};
[[nodiscard]] std::optional<ClipSuggestion> suggested_clip(const config::Config& config, const TableError& error,
                                                           const engine::TableDesign& design);

}  // namespace nustream::cli
