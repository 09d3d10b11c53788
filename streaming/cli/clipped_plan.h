// What `nustream plan` says of the private count of clipped gradients.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/mechanism.h"
#include "nustream/base/units.h"
#include "publish/json_writer.h"

namespace nustream::cli {

/// How well a release will know the share of clipped gradients: from settings and step counts alone.
struct ClippedPlan {
  struct Row {
    StepCount steps;  ///< at which the release is
    StepCount since;  ///< the steps behind its share are those after so many
    double stddev;    ///< of the noise in the share
  };
  Rho rho;  ///< what the count costs
  std::vector<Row> rows;
};

/// Nothing where nothing is counted. The rows are the first release, those after 10, 100, … times as many steps, and
/// the one at `steps` where that is not 0, no further than the mechanism's horizon.
[[nodiscard]] std::optional<ClippedPlan> clipped_plan(const config::Config& config,
                                                      const config::Mechanism& mechanism, StepCount steps);

void print(const ClippedPlan& plan);
/// ,"clipped":{"rho":…,"predicted":[{"steps":…,"since":…,"sd":…}]}
void append_json(const ClippedPlan& plan, publish::JsonWriter& json);

}  // namespace nustream::cli
