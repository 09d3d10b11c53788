// Prints a finding as text and as JSON.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/audit.h"
#include "audit/finding.h"
#include "console/operator_file.h"
#include "console/path_printer.h"
#include "console/report_parts.h"
#include "engine/release_encoder.h"
#include "publish/json_writer.h"
#include "publish/promise.h"

namespace nustream::audit {
namespace {

void print_bounds(const Bounds& bounds, double delta) {
  fmt::print("{:<10}  {:>10}  {:>12}\n", "", "claimed", "proven");
  fmt::print("{:<10}  {:>10.6g}  {:>12.6g}   at delta {:g}\n", "epsilon", bounds.epsilon, bounds.epsilon_bound,
             delta);
  fmt::print("{:<10}  {:>10.6g}  {:>12.6g}   of the Gaussian curve\n", "mu", bounds.mu, bounds.mu_bound);
}

/// The settings to make smaller. A model of two stages names both, because the first stage's steps can shorten the
/// gradients of either.
const char* step_sizes(const Bounds& bounds) {
  const auto is_first = [](const auto& stage) { return stage.first == "first stage"; };
  return std::ranges::any_of(bounds.shorter, is_first) ? "descent.step_size and first_stage.step_size"
                                                       : "descent.step_size";
}

/// Prints why less was proven than is claimed.
void print_shortfalls(const Bounds& bounds) {
  for (const auto& [stage, share] : bounds.shorter) {
    if (share == 0) continue;
    fmt::print("in {:.3g}% of its steps the record moved the {} by less than is claimed", 100 * share, stage);
    if (share < 1)
      fmt::print(": with a smaller {} gradients stay long, and no claim depends on it", step_sizes(bounds));
    fmt::print("\n");
  }
  // The lower bound is 0 both for no trace and for one too faint to be sure of.
  if (bounds.mu_bound == 0) {
    fmt::print(
        "no trace of the record was seen: so few games say nothing of so small a claim: take more games (--runs), "
        "or a larger rho\n");
  }
  if (bounds.epsilon > bounds.epsilon_provable) {
    fmt::print(
        "so many games can prove no epsilon above {:.4g}, whatever the mechanism: take a smaller rho, or more "
        "games\n",
        bounds.epsilon_provable);
  }
}

void print(const config::Config& config, const Options& options, const Finding& finding) {
  if (!finding.is_within_budget()) {
    fmt::print("{}: no game was played\n", config.file);
    fmt::print("{}", verdict_text(finding));
    return;
  }
  fmt::print("{}: {} games of {} steps in each of two worlds, fresh keys, every step released\n", config.file,
             console::with_separators(finding.runs), finding.steps);
  fmt::print("promise {}\n", console::protected_unit(engine::promise_of(config, true)));
  if (finding.descents > 1) fmt::print("the claim is that of each of {} runs, which share rho\n", finding.descents);
  print_bounds(finding, options.delta);
  fmt::print("rho {:.6g} after {} steps; each proven with {:g}% confidence, from below (Clopper-Pearson)\n",
             finding.rho, finding.steps, 100 * finding.confidence.level);
  if (finding.at > 0) fmt::print("the record came at step {}, counted from 0\n", finding.at);
  if (options.along_axis) fmt::print("its gradient lies along one coordinate\n");
  if (finding.unprojected) {
    fmt::print(
        "played without the projection, which hides a part of the noisy gradients: this is the stronger adversary\n");
  }
  // No pair of records moves every block of running sums by all that is claimed of it, so that shortfalls say nothing
  // there.
  const bool pairs = config.moments && config.privacy.adjacency == privacy::Adjacency::replace_one;
  if (pairs) {
    fmt::print(
        "the claim takes into account that no two records move all blocks as far as each block alone can be moved\n");
  } else {
    print_shortfalls(finding);
  }
  if (finding.against_nothing) {
    fmt::print("and {} with nothing in the record's place{}: rho {:.6g}\n",
               console::with_separators(finding.against_nothing->runs), pairs ? "" : ", half as far",
               finding.against_nothing->rho);
    print_bounds(*finding.against_nothing, options.delta);
    print_shortfalls(*finding.against_nothing);
  }
  fmt::print("{}", verdict_text(finding));
}

/// "The claim holds"; nothing where neither was shown.
std::optional<bool> holds(Verdict verdict) {
  return verdict == Verdict::not_shown ? std::nullopt : std::optional(verdict == Verdict::holds);
}

/// An exceeded claim is the program's fault, and one that was not shown is a matter of settings.
Exit exit_of(Verdict verdict) {
  return verdict == Verdict::not_shown ? Exit::configuration
         : verdict == Verdict::holds   ? Exit::done
                                       : Exit::internal;
}

void append_bounds(const Bounds& bounds, publish::JsonWriter& json) {
  json.field("runs", bounds.runs);
  json.field("rho", bounds.rho);
  json.field("epsilon", bounds.epsilon);
  json.field("epsilon_lower_bound", bounds.epsilon_bound);
  json.field("mu", bounds.mu);
  json.field("mu_lower_bound", bounds.mu_bound);
  json.field("mu_of_filter", bounds.mu_of_filter);
  json.field("epsilon_provable", bounds.epsilon_provable);
  json.field("mu_provable", bounds.mu_provable);
  json.field("shorter_share", bounds.shorter_share());
  json.fields("shorter_share_of", bounds.shorter);
  json.fields("moved_share_of", bounds.moved);
}

std::string to_json(const config::Config& config, const Options& options, const Finding& finding) {
  return publish::object_text([&](publish::JsonWriter& json) {
    json.field("stream", config.stream);
    publish::append_neighbours(engine::promise_of(config, true), json);
    json.field("steps", finding.steps);
    json.field("at", finding.at);
    json.field("along_axis", options.along_axis);
    json.field("delta", options.delta);
    json.field("confidence", finding.confidence.level);
    json.field("rho_asked", finding.rho_asked);
    json.field("rho_limit", finding.rho_limit);
    json.field("descents", finding.descents);
    append_bounds(finding, json);
    if (finding.against_nothing) {
      const auto against = json.object("against_nothing");
      append_bounds(*finding.against_nothing, json);
    }
    const bool is_shown = finding.verdict() != Verdict::not_shown;
    json.elements("not_shown", is_shown ? std::vector<std::string>() : what_was_not_shown(finding));
    json.field("holds", holds(finding.verdict()));
  });
}

}  // namespace

Exit run(const config::Config& config, config::Purpose purpose, const Options& options) {
  // The files are claimed before minutes of games are played, and written after them.
  console::require_outside(config.state.directory, {{"--report", options.report}, {"--chart", options.chart}});
  console::OperatorFile page_file(options.report, journal::Audience::everyone);
  console::OperatorFile picture(options.chart, journal::Audience::everyone);
  const Finding finding = audit(config, purpose, options);
  if (!options.report.empty()) page_file.write(page(config, options, finding));
  if (!options.chart.empty()) picture.write(chart_file(config, options, finding));
  if (options.json) {
    fmt::print("{}\n", to_json(config, options, finding));
  } else {
    print(config, options, finding);
  }
  return exit_of(finding.verdict());
}

}  // namespace nustream::audit
