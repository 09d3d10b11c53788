// The public schedule by which units grow: at which records a stage ends depends on settings alone, and only by how
// much its units grow depends on noisy sums.
#include "config/growing_stages.h"

namespace nustream::config {

void add_growing_stages(Moments& moments, std::uint64_t every) {
  const auto add = [&](std::uint64_t releases) {
    // With few releases two percentages may come to the same one. A stage must begin behind the stage before it.
    if (releases * every <= moments.stages.back().from) return;
    // The radii of the first stage stand for those that follow from the noisy sums later.
    moments.stages.push_back({releases * every, moments.stages.front().radii});
  };
  if (!moments.releases) {
    // Earlier looks, or more of them, were worse on a stream with seasons: what was seen by then was the season.
    for (std::uint64_t releases = 16; releases < std::uint64_t{1} << 32U; releases *= 2) add(releases);
    return;
  }
  for (const std::uint64_t percent : {5U, 10U, 20U, 40U, 70U}) {
    const std::uint64_t releases = (*moments.releases * percent + 50) / 100;
    // A stage that begins at the last release would never be read.
    if (releases < *moments.releases) add(releases);
  }
}

std::string why_units_stay(const Config& config) {
  const Moments& moments = *config.moments;
  if (config.descent.first_stage) return "where there are [[endogenous]] regressors";
  if (moments.memory) return "beside moments.memory: sums that forget keep one set of units";
  if (!config.schema.intercept) return "where model.intercept = false: nothing else tells how many rows are usable";
  if (config.schema.is_weighted()) {
    return "where records have weights: the intercept's 1 would count weights, and not rows";
  }
  if (moments.release_sums) {
    return "where sums are released (release.moments, kafka.model_topic): their readers rely on one level of noise";
  }
  return {};
}

}  // namespace nustream::config
