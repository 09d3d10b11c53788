// What `nustream plan` says about a linear descent over a stream beside its prediction: the least excess that any
// correlation could have, a bound after the records that are asked about, and a clip norm that clips nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/descent_prediction.h"
#include "config/mechanism.h"
#include "nustream/inference/stream_bound.h"
#include "publish/json_writer.h"

namespace nustream::cli {

struct StreamRules {
  /// The least excess that any correlation could leave on average over the steps of a stream without an end, at the
  /// same ρ. It is set for a correlation whose own error is the same at every step. Single steps of other
  /// correlations may be below it.
  std::optional<double> least_excess;
  /// Averages over the steps of a correlation with an end: what this one leaves, and the least that any could leave.
  struct OverHorizon {
    std::uint64_t steps;
    double mean;
    double least;
  };
  std::optional<OverHorizon> over_horizon{};
  std::optional<inference::StreamBound> bound{};
  std::uint64_t steps = 0;  ///< steps after which the bound holds
  bool has_clip = false;    ///< the guesses suffice to look for a clip norm
  std::optional<double> clip_norm{};
};

/// `steps` is how many will be taken, or 0 for an unknown number. The bound and the clip norm need plan.residual,
/// plan.distance and records that are read once.
[[nodiscard]] StreamRules stream_rules(const config::Config& config, const config::Mechanism& mechanism,
                                       const DescentPrediction& prediction, std::uint64_t steps);

void print(const StreamRules& rules, const DescentPrediction& prediction);
/// Writes "least_excess":….
void append_json(const StreamRules& rules, publish::JsonWriter& json);

}  // namespace nustream::cli
