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

/// How the second moments were made. All of it is public.
struct StrengthDesign {
  descent::TwoStageShape shape;
  std::vector<std::string> regressors;  ///< names of the endogenous regressors
  noise::Correlation correlation;
  NoiseStddev stddev;  ///< σΔ of the stage of second moments
  std::uint64_t minibatch;
  std::optional<std::uint64_t> records;  ///< number of distinct records, where records take part several times
};

/// The strength of the first stage. Empty while there are no more records than instruments, and where noise hides the
/// second moments.
[[nodiscard]] std::optional<inference::FirstStageStrength> strength_of(const StrengthDesign& design,
                                                                       const lane::Release& release);

}  // namespace nustream::publish
