// The strength of a first stage in a release: a function of charged second moments.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nustream/inference/first_stage.h"
#include "nustream/lane/lane.h"
#include "nustream/noise/correlation.h"
#include "nustream/record/schema.h"

namespace nustream::publish {

/// What the second moments were made with. All public.
struct StrengthDesign {
  descent::TwoStageShape shape;
  std::vector<std::string> regressors;  ///< names of the endogenous ones
  noise::Correlation correlation;
  NoiseStddev stddev;  ///< σΔ of their stage
  std::uint64_t minibatch;
  std::optional<std::uint64_t> records;  ///< distinct ones, where they take part several times
};

/// Nothing before there are more records than instruments, or where noise hides the second moments.
[[nodiscard]] std::optional<inference::FirstStageStrength> strength_of(const StrengthDesign& design,
                                                                       const lane::Release& release);

}  // namespace nustream::publish
