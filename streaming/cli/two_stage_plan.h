// What `nustream plan` says about two stages over a table: step sizes with which they contract, and clip norms.
#pragma once

#include <optional>
#include <string>

#include "config/mechanism.h"
#include "engine/table_design.h"
#include "nustream/inference/two_stage_rules.h"
#include "publish/json_writer.h"

namespace nustream::cli {

struct TwoStagePlan {
  inference::TwoStageConditions conditions;
  double eta;          ///< η: step size of the first stage, as set
  double alpha;        ///< α: step size of the second stage, as set
  double contraction;  ///< κ at these step sizes: what is left of the start is of the order of κ^(T/2)
  bool has_clips;      ///< both stages clip
  std::optional<inference::TwoStageClips> clips{};  ///< empty where no clip norm is sure to clip nothing
};

/// Computes clip norms that clip nothing in 95% of tables, from guesses: plan.residual, plan.distance and
/// plan.second_moment_eigenvalues. For two stages, the eigenvalues are those of what the instruments tell about the
/// regressors, E[Θᵀz(Θᵀz)ᵀ]: the squares of Θ's singular values. Instruments and regressors are assumed to have
/// variance 1 in working coordinates. So those eigenvalues are at most 1, and the first stage's residual has the
/// variance that they lack of 1.
///
/// Returns nothing where a guess is missing, or where there is no rule: for controls, other losses, minibatches and
/// users. That the eigenvalues can be such squares is checked when the settings are read.
[[nodiscard]] std::optional<TwoStagePlan> two_stage_plan(const config::Config& config,
                                                         const config::Mechanism& mechanism,
                                                         const engine::TableDesign& design);

void print(const TwoStagePlan& plan);
/// Writes "two_stages":{…}.
void append_json(const TwoStagePlan& plan, publish::JsonWriter& json);
/// Advice where the step sizes may not contract; else "".
[[nodiscard]] std::string step_size_advice(const TwoStagePlan& plan);

}  // namespace nustream::cli
