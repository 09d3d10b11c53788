#include "cli/moments_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "console/path_printer.h"
#include "publish/json_writer.h"

namespace nustream::cli {

std::vector<SumsReach> sums_reach(const config::Config& config, const config::Mechanism& mechanism,
                                  std::uint64_t records) {
  std::uint64_t most = records > 0 ? records / config.descent.minibatch : 1'000'000;
  if (const auto horizon = mechanism.horizon()) most = std::min(most, horizon->value());
  std::vector<SumsReach> reach;
  for (std::uint64_t releases = 1; most > 0; releases = std::min(releases * 10, most)) {
    reach.push_back(engine::sums_reach(config, mechanism, StepCount{releases}));
    if (releases == most) break;
  }
  return reach;
}

void print_reach(const std::vector<SumsReach>& reach) {
  using console::with_separators;
  fmt::print("{:>15}  {:>15}  {:>12}  {:>12}\n", "releases", "records", "floor", "stddev");
  for (const SumsReach& one : reach) {
    fmt::print("{:>15}  {:>15}  {:>12.4g}  {:>12.4g}\n", with_separators(one.releases), with_separators(one.records),
               one.floor, one.stddev);
  }
  fmt::print(
      "floor: where an eigenvalue of the mean of xx' is below it, noise hides that direction (working units); the "
      "largest "
      "ridge where moments.solve = \"adassp\"\n"
      "stddev: what the noise of the target's moments leaves in a coefficient, divided by that eigenvalue\n");
}

void append_json(const std::vector<SumsReach>& reach, publish::JsonWriter& json) {
  const auto moments = json.array("moments");
  for (const SumsReach& one : reach) {
    const auto object = json.object();
    json.field("releases", one.releases);
    json.field("records", one.records);
    json.field("floor", one.floor);
    json.field("stddev", one.stddev);
  }
}

}  // namespace nustream::cli
