// Three smaller parts of a plan: how well the share of clipped gradients will be known, what [weight] and [exposure]
// say, and how much noise running sums hold.
#include "cli/plan_parts.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "console/path_printer.h"
#include "nustream/descent/clipped_count.h"
#include "publish/clipped.h"
#include "publish/json_writer.h"

namespace nustream::cli {
namespace {

/// Where no number of steps is given, rows end at this multiple of the first release.
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
  const config::CalibratedStage& noise = mechanism.stages.back();
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

std::string amounts_text(const record::Schema& schema) {
  std::string text;
  if (schema.weight) {
    text += fmt::format("each record counts as column '{}' says, at most {:g} (weight)\n", schema.weight->term.column,
                        schema.weight->most);
  }
  if (schema.exposure) {
    text += fmt::format("each count is over {}column '{}' says, at most {:g} (exposure)\n",
                        schema.exposure->is_log ? "exp of what " : "what ", schema.exposure->term.column,
                        schema.exposure->most);
  }
  return text;
}

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
