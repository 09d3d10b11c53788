// What `nustream plan` predicts for a descent: the privacy noise that is left in the last iterate and in the average,
// under the correlation of the settings and under the best ones for either.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/mechanism.h"
#include "nustream/inference/average_plan.h"
#include "nustream/privacy/plan.h"
#include "publish/json_writer.h"

namespace nustream::cli {

/// Whether the model is a mean, whose curvature is 1 whatever the records are.
[[nodiscard]] inline bool is_mean(const config::Config& config) {
  return config.descent.loss.kind == model::Loss::Kind::mean;
}

/// Where the eigenvalues of E[xxᵀ] come from.
enum class Eigenvalues {
  set,      ///< plan.second_moment_eigenvalues, or 1 for a mean
  ranges,   ///< clamps and transforms of the features
  assumed,  ///< all 1
};

struct DescentPrediction {
  privacy::Prediction last;
  Eigenvalues eigenvalues;
  std::vector<std::string> unknown;  ///< features whose size the settings do not tell
  std::optional<inference::AveragePrediction> average;
  inference::AverageSpan span{};       ///< the steps that the average is over
  privacy::LocalProblem problem;       ///< the problem that all predictions are about
  privacy::Budget budget;              ///< budget of the mean gradient
  std::optional<StepCount> only_at{};  ///< the step that `last` is about, where steps have different errors
  double average_of_last = 0;          ///< excess of the average under the ν that is best for the last iterate
  std::string why_no_average;          ///< empty where there is an average, or none was asked for
  std::vector<std::string> advice;     ///< sentences about settings that are probably a mistake
};

/// Whether the second moment of the iterates has no bound under these steps, where nothing is clipped: every record
/// then multiplies in more noise than its step takes away, whatever the correlation. Of such steps no error can be
/// expected.
[[nodiscard]] bool diverges(const privacy::LocalProblem& problem);

/// Predicts the error after `steps` steps, where 0 means that the number is unknown. Throws Unsupported and
/// InvalidParameter where the theory has no formula.
[[nodiscard]] DescentPrediction predict_descent(const config::Config& config, const config::Mechanism& mechanism,
                                                std::uint64_t steps);

void print(const config::Config& config, const DescentPrediction& prediction);
/// Writes "predicted_excess":….
void append_json(const config::Config& config, const DescentPrediction& prediction, publish::JsonWriter& json);

}  // namespace nustream::cli
