// What `nustream plan` says, from settings alone, of the private count of clipped gradients, of how much each record
// counts, and of the noise in running sums.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/mechanism.h"
#include "engine/sums_reach.h"
#include "nustream/base/units.h"
#include "nustream/record/schema.h"
#include "publish/json_writer.h"

namespace nustream::cli {

/// What a plan says where every clip norm may shorten some gradient.
inline constexpr const char* no_clip_norm_is_sure =
    "for no clip_norm is it certain that nothing is clipped: a larger one brings more noise, which makes residuals "
    "longer";

/// How well a release will know the share of clipped gradients: from settings and step counts alone.
struct ClippedPlan {
  struct Row {
    StepCount steps;  ///< at which the release is
    StepCount since;  ///< the share is of the steps after this one
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

/// A line for [weight] and one for [exposure], such as "each record counts as column 'n' says, at most 5 (weight)\n";
/// "" where there is neither.
[[nodiscard]] std::string amounts_text(const record::Schema& schema);

// What `nustream plan` says about running sums: how much noise they hold, from settings alone.
using engine::SumsReach;

/// The noise after 1, 10, 100, … releases. The last row is at `records` where that is not 0, and never beyond the
/// noise's horizon.
[[nodiscard]] std::vector<SumsReach> sums_reach(const config::Config& config, const config::Mechanism& mechanism,
                                                std::uint64_t records);
void print_reach(const std::vector<SumsReach>& reach);
/// Writes "moments":[…].
void append_json(const std::vector<SumsReach>& reach, publish::JsonWriter& json);

}  // namespace nustream::cli
