#include "cli/clipped_plan.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "console/path_printer.h"
#include "nustream/descent/clipped_count.h"
#include "publish/clipped.h"
#include "publish/json_writer.h"

namespace nustream::cli {
namespace {

/// Without a number of steps: the first release, and so many tens behind it.
constexpr std::uint64_t tens = 1'000;

std::vector<std::uint64_t> steps_of_rows(const config::Config& config, const config::Mechanism& mechanism,
                                         StepCount steps) {
  const std::uint64_t first = config.descent.release_every;
  constexpr std::uint64_t endless = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last = steps.value();
  if (last == 0 && __builtin_mul_overflow(first, tens, &last)) last = first;
  last = std::min(last, mechanism.horizon() ? mechanism.horizon()->value() : endless);
  std::vector<std::uint64_t> rows;
  for (std::uint64_t at = first; at < last; at *= 10) {
    rows.push_back(at);
    if (at > endless / 10) break;
  }
  rows.push_back(last);
  return rows;
}

}  // namespace

std::optional<ClippedPlan> clipped_plan(const config::Config& config, const config::Mechanism& mechanism,
                                        StepCount steps) {
  if (!config.descent.counts_clipped) return std::nullopt;
  const config::StageNoise& noise = mechanism.stages.back();
  const publish::ClippedDesign design(noise.correlation, noise.stddev, config.descent.minibatch);
  ClippedPlan plan{noise.rho, {}};
  for (const std::uint64_t at : steps_of_rows(config, mechanism, steps)) {
    const StepCount since = descent::clipped_since(StepCount{at}, config.descent.release_every);
    plan.rows.push_back({StepCount{at}, since, design.stddev(since, StepCount{at})});
  }
  return plan;
}

void print(const ClippedPlan& plan) {
  fmt::print("the count of clipped gradients costs rho {:.6g}; a release tells their share with noise of sd\n",
             plan.rho.value());
  for (const ClippedPlan::Row& row : plan.rows) {
    fmt::print("  {:.3g} after {} steps, of those after step {}\n", row.stddev,
               console::with_separators(row.steps.value()), console::with_separators(row.since.value()));
  }
}

void append_json(const ClippedPlan& plan, publish::JsonWriter& json) {
  const auto object = json.object("clipped");
  json.field("rho", plan.rho.value());
  const auto predicted = json.array("predicted");
  for (const ClippedPlan::Row& row : plan.rows) {
    const auto one = json.object();
    json.field("steps", row.steps.value());
    json.field("since", row.since.value());
    json.field("sd", row.stddev);
  }
}

}  // namespace nustream::cli
