// `nustream plan` for a whole table (section [estimate]), and the lines about stages and restarts that plans of
// streams print as well. The number of records is public and has to be given: the minibatches, the participations and
// so the noise follow from it.
#include "cli/table_plan.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "cli/estimator_comparison.h"
#include "cli/plan_curves.h"
#include "cli/plan_parts.h"
#include "cli/plan_schema.h"
#include "cli/table_prediction.h"
#include "cli/two_stage_plan.h"
#include "config/advice.h"
#include "console/operator_file.h"
#include "console/path_printer.h"
#include "console/report_parts.h"
#include "engine/budget_advice.h"
#include "engine/release_encoder.h"
#include "engine/spent.h"
#include "engine/table_design.h"
#include "publish/json_writer.h"

namespace nustream::cli {
namespace {

using console::with_separators;

/// What the noise leaves in a coordinate of the last iterate after `steps` steps, and what is left of the start.
struct Reach {
  std::uint64_t steps;
  std::optional<double> stddev;
  std::optional<TableError> expected{};
};

struct TablePlan {
  config::Config config;
  engine::TableDesign design;
  config::Mechanism mechanism;
  Rho rho;  ///< of all runs
  std::vector<publish::Epsilons> epsilons;
  std::vector<publish::GroupSpend> groups;
  std::string delta_warning;
  std::vector<Reach> reach;       ///< of a descent; else empty
  std::vector<SumsReach> sums{};  ///< of running sums: after 1, 10, … steps and after the last one
  std::optional<TableSuggestion> steps{};
  std::optional<ClipSuggestion> clip{};
  std::optional<TwoStagePlan> stages{};
  std::optional<EstimatorComparison> estimators{};
};

/// What is expected at another number of steps, all other settings the same. The mechanism is calibrated anew for
/// them.
std::optional<Reach> reach_of(config::Config config, std::uint64_t records, std::uint64_t steps) {
  config.estimate.steps = steps;
  try {
    const engine::TableDesign design = engine::settle_design(config, records);
    const config::Mechanism mechanism = make_mechanism(config, design.participation(), StepCount{steps});
    return Reach{steps, engine::predicted_stddev(config, mechanism, design), table_error(config, mechanism, design)};
  } catch (const Failure&) {
    return std::nullopt;  // beyond the correlation's horizon
  }
}

/// The number of steps with the least expected error; nothing where it is not to be chosen, or takes too long to
/// find.
std::optional<TableSuggestion> best_steps(const config::Config& asked, std::uint64_t records) {
  // Running sums have no number of steps to choose. Intervals need the number of steps that is set; where they come
  // from several runs, each run takes that number.
  if (!asked.problem.distance || asked.moments || asked.intervals.kind != config::Intervals::Kind::none) return {};
  // Other correlations and step rules write the noise out as a matrix for every number of steps. That takes too long.
  const bool is_quick = std::holds_alternative<noise::Independent>(asked.noise.correlation.family()) ||
                        (std::holds_alternative<descent::Constant>(asked.descent.schedule.family()) &&
                         asked.descent.momentum == 0 && asked.noise.correlation.toeplitz());
  if (!is_quick) return {};
  return suggested_steps([&](std::uint64_t steps) -> std::optional<double> {
    const std::optional<Reach> reach = reach_of(asked, records, steps);
    return reach && reach->expected ? reach->expected->error : std::nullopt;
  });
}

/// Computes all parts of a plan. Those that have no formula under these settings are empty.
TablePlan make_table_plan(const PlanArguments& arguments) {
  config::Config config =
      config::read_config(arguments.config.file, arguments.config.overrides, config::Purpose::table);
  // settle_design() fills in what follows from the number of records. `asked` is the file's own wish, from which
  // other numbers of steps are tried.
  const config::Config asked = config;
  const engine::TableDesign design = engine::settle_design(config, arguments.records);
  config::Mechanism mechanism = make_mechanism(config, design.participation(), StepCount{design.steps});
  // Intervals may come from several runs, which share ρ.
  const Rho rho = design.of_all_runs(mechanism.spend.limit());
  std::vector<SumsReach> sums;
  if (config.moments) sums = sums_reach(config, mechanism, design.steps * design.minibatch);
  std::vector<Reach> reach;
  // A quarter to four times the steps that are set.
  for (const std::uint64_t steps :
       {design.steps / 4, design.steps / 2, design.steps, 2 * design.steps, 4 * design.steps}) {
    if (steps == 0 || config.moments) continue;
    if (const auto one = reach_of(asked, arguments.records, steps)) reach.push_back(*one);
  }
  std::optional<ClipSuggestion> clip;
  if (const auto error = table_error(config, mechanism, design)) clip = suggested_clip(config, *error, design);
  std::optional<TwoStagePlan> stages = two_stage_plan(config, mechanism, design);
  std::optional<EstimatorComparison> estimators = compare_table_estimators(asked, arguments.records);
  const config::Privacy privacy = config.privacy;
  return {std::move(config),
          design,
          std::move(mechanism),
          rho,
          publish::epsilons_of(rho, privacy.deltas()),
          design.of_users ? std::vector<publish::GroupSpend>() : engine::group_bounds(rho, privacy.delta),
          publish::large_delta(privacy.deltas(), arguments.records),
          std::move(reach),
          std::move(sums),
          best_steps(asked, arguments.records),
          clip,
          stages,
          std::move(estimators)};
}

/// A sentence where the noise after the last step is so large that it would hide any answer; else "".
std::string absurd(const TablePlan& plan) {
  for (const Reach& one : plan.reach) {
    // Only the steps that are set are judged; others are there for comparison.
    if (one.steps != plan.design.steps || !one.stddev || *one.stddev <= 1) continue;
    return fmt::format(
        "the privacy noise alone leaves a deviation of {:.3g} in a coordinate after {} steps, in working units, "
        "where "
        "coefficients of size 1 are meant: lower descent.step_size, descent.clip_norm or estimate.steps, or raise "
        "rho",
        *one.stddev, with_separators(one.steps));
  }
  return {};
}

/// Prints the reach at several numbers of steps. Noise grows with the steps, and what is left of the start falls. So
/// their sum shows which number is better.
void print_reach_of_descent(const TablePlan& plan) {
  fmt::print("\n{:>12}  noise in a coordinate of the last iterate (working units, curvature 1)\n", "steps");
  for (const Reach& one : plan.reach) {
    // Whether there is a formula depends on loss, step rule and correlation, so that each part may be missing.
    std::string line = one.stddev ? fmt::format("{:.4g}", *one.stddev) : "not computed";
    if (one.expected) line += fmt::format(", {:.3g} of the start left", one.expected->left);
    if (one.expected && one.expected->error) line += fmt::format(", error {:.4g}", *one.expected->error);
    fmt::print("{:>12}  {}{}\n", with_separators(one.steps), line,
               one.steps == plan.design.steps ? "  <- estimate.steps" : "");
  }
  // What follows explains figures that are not in the table then.
  if (plan.reach.empty() || !plan.reach.front().expected) return;
  fmt::print("({})\n", assumed_of_start(plan.config));
  if (!plan.config.problem.distance) {
    fmt::print(
        "(of the start, in its slowest direction; set plan.distance, a public guess, to see the error that start and "
        "noise make together)\n");
  } else {
    fmt::print(
        "(error: the root of the expected squared distance to the answer of the table, all coordinates; the "
        "start is {:g} away, where nothing is clipped)\n",
        *plan.config.problem.distance);
  }
  if (plan.steps) {
    fmt::print("suggested: estimate.steps = {}, error {:.4g}\n", plan.steps->steps, plan.steps->error);
  }
  if (!plan.clip) return;
  if (plan.clip->clip_norm) {
    fmt::print("clip_norm {:.3g} clips no gradient in 95% of such tables; a smaller one clips some, for less noise\n",
               *plan.clip->clip_norm);
  } else {
    fmt::print("{}\n", no_clip_norm_is_sure);
  }
}

/// What a person should know of the plan, each a sentence or "".
std::vector<std::string> warnings(const TablePlan& plan) {
  return {engine::short_of_budget(plan.config, plan.mechanism, plan.design.runs),
          absurd(plan),
          plan.stages ? step_size_advice(*plan.stages) : std::string(),
          plan.delta_warning,
          config::unit_is_the_record(plan.config),
          config::too_few_batches(plan.config)};
}

/// Prints the plan: what it is of, what it promises and costs, what error to expect, and advice.
void print(const TablePlan& plan) {
  const engine::TableDesign& design = plan.design;
  const noise::Correlation& correlation = plan.mechanism.main().correlation;
  fmt::print("{}: table {} of {} records, {} parameters, correlation {}{}\n", plan.config.file, plan.config.stream,
             with_separators(design.rows), plan.config.descent.dimension,
             config::correlation_name(plan.config, correlation), anew_text(correlation));
  fmt::print("promise {}\n", console::protected_unit(engine::promise_of(plan.config, true)));
  fmt::print("{}", amounts_text(plan.config.schema));
  fmt::print("{} steps of {} records{}: each {}takes part {} times, sensitivity {:.6g}\n",
             with_separators(design.steps), with_separators(design.minibatch),
             design.runs > 1 ? fmt::format(", {} runs that share rho", design.runs) : "",
             design.of_users ? "user " : "", with_separators(design.participation().times()),
             plan.mechanism.main().sensitivity.value());
  fmt::print("rho {:.6g} in all\n", plan.rho.value());
  for (const publish::Epsilons& at : plan.epsilons) fmt::print("epsilon {}\n", console::epsilon_text(at));
  fmt::print("{}\n", publish::groups_text(plan.groups, plan.config.privacy.delta.value()));
  print_stages(plan.mechanism, design.minibatch);
  if (const auto clipped = clipped_plan(plan.config, plan.mechanism, StepCount{design.steps})) print(*clipped);
  // Running sums have no path of iterates: their noise is told by releases.
  if (plan.config.moments) {
    fmt::print("\n");
    print_reach(plan.sums);
  }
  const auto is_known = [](const Reach& one) { return one.stddev.has_value(); };
  if (std::any_of(plan.reach.begin(), plan.reach.end(), is_known)) {
    print_reach_of_descent(plan);
  }
  if (plan.stages) print(*plan.stages);
  if (plan.estimators) {
    fmt::print("\n");
    print(*plan.estimators);
  }
  for (const std::string& each : warnings(plan)) {
    if (!each.empty()) fmt::print("\n{}\n", each);
  }
}

/// Writes what is expected at several numbers of steps around the one that is set.
void append_reach(const TablePlan& plan, publish::JsonWriter& json) {
  const auto predicted = json.array("predicted_stddev");
  for (const auto& reach : plan.reach) {
    const auto object = json.object();
    json.field("steps", reach.steps);
    json.field("stddev", reach.stddev);
    if (!reach.expected) continue;
    json.field("start_left", reach.expected->left);
    if (reach.expected->error) json.field("error", *reach.expected->error);
  }
}

/// Writes which records take part in which steps.
void append_design(const TablePlan& plan, publish::JsonWriter& json) {
  const engine::TableDesign& design = plan.design;
  json.field("stream", plan.config.stream);
  json.field("records", design.rows);
  json.field("minibatch", design.minibatch);
  json.field("steps", design.steps);
  json.field("runs", design.runs);
  json.field("participations", design.participation().times());
  json.field("dimension", plan.config.descent.dimension);
  json.field("correlation", config::correlation_name(plan.config, plan.mechanism.main().correlation));
  json.field("sensitivity", plan.mechanism.main().sensitivity.value());
}

/// What the table costs: ρ in all, ε by every conversion, and whom it is about.
void append_cost(const TablePlan& plan, publish::JsonWriter& json) {
  json.field("rho", plan.rho.value());
  json.field("epsilon", plan.epsilons.front().by.front());
  publish::append_epsilons("epsilons", plan.epsilons, json);
  publish::append_groups(plan.groups, json);
  json.field("delta", plan.config.privacy.delta.value());
  publish::append_neighbours(engine::promise_of(plan.config, true), json);
  append_schema(plan.config.schema, json);
  json.field("conversion", "gaussian");
  append_restarts(plan.mechanism.main().correlation, json);
  append_stages(plan.mechanism, plan.design.minibatch, json);
}

/// The plan as one object, with the figures and the sentences of print().
std::string to_json(const TablePlan& plan) {
  return publish::object_text([&](publish::JsonWriter& json) {
    append_design(plan, json);
    append_cost(plan, json);
    if (const auto clipped = clipped_plan(plan.config, plan.mechanism, StepCount{plan.design.steps})) {
      append_json(*clipped, json);
    }
    if (plan.config.moments) append_json(plan.sums, json);
    append_reach(plan, json);
    if (plan.steps) {
      json.field("suggested_steps", plan.steps->steps);
      json.field("suggested_steps_error", plan.steps->error);
    }
    if (plan.clip && plan.clip->clip_norm) json.field("clip_norm_without_clipping", *plan.clip->clip_norm);
    if (plan.stages) append_json(*plan.stages, json);
    if (plan.estimators) append_json(*plan.estimators, json);
    config::append_warnings(warnings(plan), json);
  });
}

/// The curves of what the noise leaves, at other budgets and numbers of steps.
PlanCurves curves_of(const TablePlan& plan, const PlanArguments& arguments) {
  PlanCurves curves;
  curves.counted = "steps";
  const config::Config asked =
      config::read_config(arguments.config.file, arguments.config.overrides, config::Purpose::table);
  const auto tells_error = [](const std::optional<Reach>& reach) {
    return reach && reach->expected && reach->expected->error;
  };
  curves.what = plan.config.moments ? "standard deviation that the noise leaves in a coefficient, working units"
                : !plan.reach.empty() && tells_error(plan.reach.front())
                    ? "expected distance to the answer (start and noise), working units"
                    : "standard deviation that the noise leaves in a coordinate, working units";
  curves.why_none = "there is no formula for these settings";
  // Each cell is one design of its own: its budget, its number of steps, its noise.
  const auto at = [&](double rho, std::uint64_t steps) -> std::vector<ErrorOf> {
    config::Config other = asked;
    // The file may have said ε; in the grid it is ρ that is varied.
    other.privacy.rho = Rho{rho};
    other.privacy.epsilon.reset();
    const auto reach = reach_of(std::move(other), arguments.records, steps);
    if (!reach || !reach->stddev) return {};
    if (tells_error(reach)) return {{"the last iterate", *reach->expected->error}};
    return {{plan.config.moments ? "running sums" : "the last iterate", *reach->stddev}};
  };
  add_grid(rho_set(asked.privacy), plan.design.steps, 4, at, curves);
  return curves;
}

/// Writes the report and the picture that are asked for, in files that are made before the curves are computed.
void draw(const TablePlan& plan, const PlanArguments& arguments) {
  const bool in_terminal = arguments.chart == terminal_chart;
  const std::string chart = in_terminal ? std::string() : arguments.chart;
  console::require_outside(plan.config.state.directory, {{"--report", arguments.report}, {"--chart", chart}});
  console::OperatorFile page(arguments.report, journal::Audience::everyone);
  console::OperatorFile picture(chart, journal::Audience::everyone);
  const PlanCurves curves = curves_of(plan, arguments);
  if (!arguments.report.empty()) {
    page.write(plan_page(plan.config, plan.mechanism, plan.rho, {}, curves, plan_command(plan.config, arguments)));
  }
  if (in_terminal) return print_chart(curves);
  if (!arguments.chart.empty()) picture.write(chart::svg_file(plan_chart(curves, 720)));
}

}  // namespace

std::string anew_text(const noise::Correlation& correlation) {
  const auto* const restarted = std::get_if<noise::Restarted>(&correlation.family());
  if (restarted == nullptr) return {};
  return fmt::format(", begun anew every {} steps", with_separators(restarted->every().value()));
}

void append_restarts(const noise::Correlation& correlation, publish::JsonWriter& json) {
  const auto* const restarted = std::get_if<noise::Restarted>(&correlation.family());
  if (restarted != nullptr) json.field("restarts_every", restarted->every().value());
}

void print_stages(const config::Mechanism& mechanism, std::uint64_t minibatch) {
  fmt::print("{:<17}  {:>8}  {:>12}  {:>12}  {:>14}  {:>16}\n", "stage", "entries", "Delta", "rho", "sigma",
             "noise of a step");
  for (const config::CalibratedStage& stage : mechanism.stages) {
    fmt::print("{:<17}  {:>8}  {:>12.6g}  {:>12.6g}  {:>14.6g}  {:>16.6g}\n", stage.name, stage.dimension,
               stage.displacement.value(), stage.rho.value(), stage.sigma.value(),
               stage.stddev.value() / static_cast<double>(minibatch));
  }
  // Seed noise: what a correlation makes of it over the steps is another figure.
  fmt::print("(noise of a step: standard deviation of one entry of the mean gradient, seed noise)\n");
}

void append_stages(const config::Mechanism& mechanism, std::uint64_t minibatch, publish::JsonWriter& json) {
  const auto stages = json.array("stages");
  for (const config::CalibratedStage& stage : mechanism.stages) {
    const auto object = json.object();
    json.field("name", stage.name);
    json.field("entries", stage.dimension);
    json.field("displacement", stage.displacement.value());
    json.field("rho", stage.rho.value());
    json.field("sigma", stage.sigma.value());
    json.field("stddev", stage.stddev.value() / static_cast<double>(minibatch));
  }
}

Exit plan_table(const PlanArguments& arguments) {
  // Nobody reads the table for a plan, so that its size has to be said.
  if (arguments.records == 0) {
    throw Failure(Exit::usage,
                  arguments.config.file +
                      " has a section [estimate]: its noise follows from the number of records, which is "
                      "public; add --records N");
  }
  const TablePlan plan = make_table_plan(arguments);
  if (arguments.json) {
    fmt::print("{}\n", to_json(plan));
  } else {
    print(plan);
  }
  if (!arguments.report.empty() || !arguments.chart.empty()) draw(plan, arguments);
  return Exit::done;
}

std::string table_plan_json(const PlanArguments& arguments) {
  return to_json(make_table_plan(arguments));
}

}  // namespace nustream::cli
