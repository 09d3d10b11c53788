#include "cli/moments_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "config/moments.h"
#include "console/path_printer.h"
#include "nustream/moments/estimate.h"
#include "nustream/moments/stage_noise.h"
#include "publish/json_text.h"

namespace nustream::cli {

std::vector<SumsReach> sums_reach(const config::Config& config, const config::Mechanism& mechanism,
                                  std::uint64_t records) {
  const std::uint64_t every = config.descent.minibatch;
  const moments::Settings settings = config::moments_settings(config, mechanism);
  const moments::Design& design = settings.mechanism.design;
  const moments::BlockNoise noise = moments::block_noise(design, settings.sigmas);
  const double kept = settings.memory ? 1 - static_cast<double>(every) / static_cast<double>(*settings.memory) : 1;
  const moments::StageNoise sums(settings.mechanism.correlation, kept);
  const moments::Radii& radii = settings.stages.front().radii;
  std::uint64_t most = records > 0 ? records / every : 1'000'000;
  if (const auto horizon = mechanism.horizon()) most = std::min(most, horizon->value());
  std::vector<SumsReach> reach;
  for (std::uint64_t releases = 1; most > 0; releases = std::min(releases * 10, most)) {
    const std::uint64_t first = 0;
    const double deviation = std::sqrt(sums.covariance({&first, 1}, StepCount{releases}).front());
    const double in_sums = settings.memory ? (1 - std::pow(kept, static_cast<double>(releases))) / (1 - kept)
                                           : static_cast<double>(releases);
    const double weight = in_sums * static_cast<double>(every);
    const double floor = std::sqrt(2.0 * static_cast<double>(design.shape.inputs)) * noise.second * radii.inputs *
                         radii.inputs * deviation;
    reach.push_back({releases, releases * every, floor / weight,
                     noise.target * radii.inputs * radii.target * deviation / weight});
    if (releases == most) break;
  }
  return reach;
}

void print(const std::vector<SumsReach>& reach) {
  using console::with_separators;
  fmt::print("{:>15}  {:>15}  {:>12}  {:>12}\n", "releases", "records", "floor", "stddev");
  for (const SumsReach& one : reach) {
    fmt::print("{:>15}  {:>15}  {:>12.4g}  {:>12.4g}\n", with_separators(one.releases), with_separators(one.records),
               one.floor, one.stddev);
  }
  fmt::print(
      "floor: where an eigenvalue of the mean of xx' is below it, noise hides that direction (working units)\n"
      "stddev: what the noise of the target's moments leaves in a coefficient, divided by that eigenvalue\n");
}

void append_json(const std::vector<SumsReach>& reach, std::string& out) {
  out += ",\"moments\":[";
  for (std::size_t i = 0; i < reach.size(); ++i) {
    out += fmt::format("{}{{\"releases\":{},\"records\":{}", i == 0 ? "" : ",", reach[i].releases, reach[i].records);
    publish::append_field("floor", reach[i].floor, out);
    publish::append_field("stddev", reach[i].stddev, out);
    out += '}';
  }
  out += ']';
}

}  // namespace nustream::cli
