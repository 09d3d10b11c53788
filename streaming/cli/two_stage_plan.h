// What `nustream plan` says of two stages over a table: step sizes under which they contract, and clip norms.
#pragma once

#include <optional>
#include <string>

#include "config/mechanism.h"
#include "engine/table_design.h"
#include "nustream/inference/two_stage_rules.h"

namespace nustream::cli {

struct TwoStagePlan {
  inference::TwoStageConditions conditions;
  double eta;          ///< as set
  double alpha;        ///< as set
  double contraction;  ///< κ at these: what is left of the start is of the order κ^(T/2)
  bool has_clips;      ///< both stages clip
  std::optional<inference::TwoStageClips> clips{};  ///< empty where none is sure to clip nothing
};

/// For 95% of tables, of guesses: plan.residual, plan.distance, and plan.second_moment_eigenvalues, of two stages
/// those of what the instruments tell of the regressors, E[Θᵀz(Θᵀz)ᵀ]: the squares of Θ's singular values.
/// Instruments and regressors are taken to have variance 1 in working coordinates, so that those eigenvalues are 1 at
/// most and what they lack of it is the first stage's residual. Empty where a guess is missing, and where there is no
/// rule: of controls, other losses, minibatches and users. Failure(configuration) where the eigenvalues are no such
/// guess.
[[nodiscard]] std::optional<TwoStagePlan> two_stage_plan(const config::Config& config,
                                                         const config::Mechanism& mechanism,
                                                         const engine::TableDesign& design);

void print(const TwoStagePlan& plan);
/// ,"two_stages":{…}
void append_json(const TwoStagePlan& plan, std::string& out);
/// Of step sizes that may not contract; else nothing.
[[nodiscard]] std::string step_size_advice(const TwoStagePlan& plan);

}  // namespace nustream::cli
