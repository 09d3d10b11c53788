// `nustream plan` for a stream: computes what a budget buys from settings and public guesses, and prints it as text
// or JSON. No record is read. A table's plan is in table_plan.cpp, and that of settings which are still to be
// measured in measure/.
#include <cmath>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/descent_prediction.h"
#include "cli/estimator_comparison.h"
#include "cli/fit_report.h"
#include "cli/plan_curves.h"
#include "cli/plan_parts.h"
#include "cli/plan_schema.h"
#include "cli/stream_rules.h"
#include "cli/table_plan.h"
#include "cli/users_plan.h"
#include "config/advice.h"
#include "config/mechanism.h"
#include "config/ranges.h"
#include "console/operator_file.h"
#include "console/path_printer.h"
#include "console/report_parts.h"
#include "engine/budget_advice.h"
#include "engine/release_encoder.h"
#include "engine/spent.h"
#include "measure/fit.h"
#include "measure/measure.h"
#include "nustream/noise/rational.h"
#include "nustream/privacy/plan.h"
#include "publish/json_writer.h"
#include "publish/original_units.h"

namespace nustream::cli {
namespace {

using console::with_separators;

/// Everything that a plan shows. Only settings are needed to compute it.
struct Plan {
  config::Mechanism mechanism;
  std::vector<privacy::SpendRow> spend;
  std::vector<publish::GroupSpend> groups;
  std::string delta_warning;  ///< about δ, for the records that are asked about
  std::string no_step{};      ///< too_few_for_a_step() of these records
  std::optional<DescentPrediction> prediction;
  StreamRules rules{};  ///< where there is a prediction; else empty
  std::string why_no_prediction;
  std::optional<double> rational_excess;  ///< for a mean: excess over that of exact ν
  std::optional<FitReport> fit;           ///< where the correlation is optimised
  bool average_never_begins = false;      ///< the records end before the average begins
  std::vector<SumsReach> sums{};          ///< where model.estimator = "moments"
  std::optional<UsersPlan> users{};       ///< where the unit is the user
  std::optional<EstimatorComparison> comparison{};
  std::optional<ClippedPlan> clipped{};
};

/// Adds what is predicted of a descent's error. Where the theory has no formula for the settings, the plan says why
/// instead.
void add_prediction(const config::Config& config, StepCount steps, Plan& plan) {
  try {
    plan.prediction = predict_descent(config, plan.mechanism, steps.value());
    plan.rules = stream_rules(config, plan.mechanism, *plan.prediction, steps.value());
  } catch (const Unsupported& reason) {
    plan.why_no_prediction = reason.what();
  } catch (const InvalidParameter& reason) {
    plan.why_no_prediction = reason.what();
  }
  // A rational correlation stands in for the exact ν; the plan says what that costs.
  if (const auto nu = config.noise.approximated_nu) {
    plan.rational_excess =
        noise::mean_estimation_excess(std::get<noise::Rational>(plan.mechanism.main().correlation.family()), *nu);
  }
  if (config.noise.fit) plan.fit = fit_report(plan.mechanism.main().correlation, *config.noise.fit);
}

/// Computes all parts of a plan.
Plan make_plan(const config::Config& config, const PlanArguments& arguments) {
  const std::uint64_t passes = arguments.passes;
  // What the command line says goes before what [plan] guesses.
  const std::uint64_t records = arguments.records > 0 ? arguments.records : config.problem.records;
  // If a minibatch were longer than a pass, one step could hold a record twice.
  if (passes > 1 && records < config.descent.minibatch) {
    throw Failure(Exit::configuration,
                  fmt::format("{}: descent.minibatch = {}: allowed is at most a pass of {} records", config.file,
                              config.descent.minibatch, records));
  }
  // In steps: a pass makes records/minibatch steps, after which a record may take part again.
  const privacy::Participation participation =
      passes == 1 ? privacy::Participation::once()
                  : privacy::Participation{passes, std::max<std::uint64_t>(1, records / config.descent.minibatch)};
  Plan plan{.mechanism = config::make_mechanism(config, participation),
            .spend = {},
            .groups = {},
            .delta_warning = publish::large_delta(config.privacy.deltas(), records),
            .no_step = config::too_few_for_a_step(config, records),
            .prediction = {},
            .why_no_prediction = {},
            .rational_excess = {},
            .fit = {}};
  std::uint64_t read = 0;  // minibatches continue from one pass into the next
  if (__builtin_mul_overflow(passes, records, &read)) {
    throw InvalidParameter("passes", std::to_string(passes), "as many as there are steps for");
  }
  const StepCount steps{read / config.descent.minibatch};
  // The table's epsilon is by the exact curve of the Gaussian mechanism, which is the mechanism that runs.
  plan.spend = privacy::spend_table(plan.mechanism.spend, config.privacy.delta, privacy::Conversion::gaussian, steps);
  // What persons with several records are promised.
  plan.groups = engine::group_spends(config, plan.mechanism);
  const descent::Averaging& averaging = config.descent.averaging;
  // Said where the number of records is known: the settings then ask for something that never comes.
  plan.average_never_begins =
      records > 0 && averaging.kind != descent::Averaging::Kind::last && averaging.from >= steps.value();
  plan.comparison = compare_estimators(config, plan.mechanism);
  plan.clipped = clipped_plan(config, plan.mechanism, steps);
  if (config.moments) {
    plan.sums = sums_reach(config, plan.mechanism, read);
    if (config.users) plan.users = users_plan(config);
    plan.why_no_prediction = "it is solved from running sums";
    return plan;
  }
  if (config.users) {
    plan.users = users_plan(config);
    plan.why_no_prediction = "the unit is the user, and limits decide which of a user's records count";
    return plan;
  }
  add_prediction(config, steps, plan);
  return plan;
}

/// A number of steps with separators; "no limit" where there is none.
std::string steps_text(const std::optional<StepCount>& steps) {
  return steps ? with_separators(steps->value()) : "no limit";
}

/// The table of what the dearest record has spent after so many steps, and all conversions for its last row.
void print_spend(const config::Config& config, const Plan& plan) {
  fmt::print("{:>15}  {:>12}  {:>12}  {:>12}\n", "steps", "gamma", "rho", "epsilon");
  for (const privacy::SpendRow& row : plan.spend) {
    fmt::print("{:>15}  {:>12.6f}  {:>12.6g}  {:>12.5g}\n", steps_text(row.steps), row.sensitivity.value(),
               row.rho.value(), row.epsilon.value());
  }
  fmt::print("epsilon at delta {:g} (gaussian: the exact curve of the Gaussian mechanism)\n",
             config.privacy.delta.value());
  if (plan.spend.empty()) return;
  const privacy::SpendRow& last = plan.spend.back();
  fmt::print("\nafter {} steps, epsilon by every conversion:\n", steps_text(last.steps));
  for (const publish::Epsilons& at : publish::epsilons_of(last.rho, config.privacy.deltas())) {
    fmt::print("  {}\n", console::epsilon_text(at));
  }
  fmt::print("{}\n", publish::groups_text(plan.groups, config.privacy.delta.value()));
}

/// Prints the predicted error with its rules, or why there is no prediction.
void print_prediction(const config::Config& config, const Plan& plan) {
  if (!plan.prediction) return fmt::print("no prediction of the error: {}\n", plan.why_no_prediction);
  print(config, *plan.prediction);
  print(plan.rules, *plan.prediction);
}

/// What the records that are asked about are too few for.
void print_shortage(const config::Config& config, const Plan& plan) {
  if (!plan.no_step.empty()) fmt::print("{}\n", plan.no_step);
  if (plan.average_never_begins) {
    fmt::print("descent.average_from = {} is not reached by these records: there will be no average\n",
               with_separators(config.descent.averaging.from));
  }
}

/// Prints the plan: what it is of, what it promises, what that costs over the steps, what error to expect, and
/// advice.
void print(const config::Config& config, const Plan& plan) {
  const config::Mechanism& mechanism = plan.mechanism;
  fmt::print("{}: stream {}, {} parameters, correlation {}{}\n", config.file, config.stream, config.descent.dimension,
             config::correlation_name(config, mechanism.main().correlation), anew_text(mechanism.main().correlation));
  fmt::print("promise {}\n", console::protected_unit(engine::promise_of(config, true)));
  fmt::print("{}", amounts_text(config.schema));
  if (config.moments) fmt::print("solved from running sums, a step is {} records\n", config.descent.minibatch);
  // σ and γ say all of the cost of one stage: ρ is γ²/(2σ²).
  fmt::print("sigma {:.8g} (noise multiplier), Delta {:g}, gamma {:.8g} in the limit, horizon {}\n\n",
             mechanism.main().sigma.value(), mechanism.main().displacement.value(),
             mechanism.main().sensitivity.value(), steps_text(mechanism.horizon()));
  // With one stage, the line above says all of it.
  if (mechanism.stages.size() > 1) {
    print_stages(mechanism, config.descent.minibatch);
    fmt::print("\n");
  }
  print_spend(config, plan);
  if (const std::string advice = engine::short_of_budget(config, mechanism); !advice.empty()) {
    fmt::print("{}\n\n", advice);
  }
  if (!plan.delta_warning.empty()) fmt::print("{}\n\n", plan.delta_warning);
  // Each of these is a sentence of advice, or "" where there is nothing to say.
  for (const std::string& each : {config::unit_is_the_record(config), config::too_few_batches(config),
                                  engine::part_of_budget(config, mechanism), config::restarts_in_vain(config)}) {
    if (!each.empty()) fmt::print("{}\n\n", each);
  }
  if (plan.users) print(*plan.users);
  if (config.moments) {
    print_reach(plan.sums);
  } else if (!plan.users) {
    print_prediction(config, plan);
  }
  if (plan.clipped) print(*plan.clipped);
  if (plan.comparison) print(*plan.comparison);
  if (plan.rational_excess) {
    fmt::print("rational correlation: {} poles, error {:.2g}% above exact nu at the same rho (mean estimation)\n",
               std::get<noise::Rational>(mechanism.main().correlation.family()).poles(), 100 * *plan.rational_excess);
  }
  if (plan.fit) print(*plan.fit);
  print_shortage(config, plan);
}

/// Writes the table of spends. A row without a number of steps is the limit of endlessly many.
void append_spend(const config::Config& config, const Plan& plan, publish::JsonWriter& json) {
  const auto spend = json.array("spend");
  for (const privacy::SpendRow& row : plan.spend) {
    const auto object = json.object();
    json.field("steps", row.steps ? std::optional(row.steps->value()) : std::nullopt);
    json.field("gamma", row.sensitivity.value());
    json.field("rho", row.rho.value());
    json.field("epsilon", row.epsilon.value());
    publish::append_epsilons("epsilons", publish::epsilons_of(row.rho, config.privacy.deltas()), json);
  }
}

/// Writes what error of the estimate is expected.
void append_predictions(const config::Config& config, const Plan& plan, publish::JsonWriter& json) {
  if (plan.prediction) {
    append_json(config, *plan.prediction, json);
    append_json(plan.rules, json);
  } else if (config.moments) {
    append_json(plan.sums, json);
  } else if (!plan.users) {
    json.field("no_prediction", plan.why_no_prediction);
  }
  if (plan.users) append_json(*plan.users, json);
  if (plan.clipped) append_json(*plan.clipped, json);
  if (plan.comparison) append_json(*plan.comparison, json);
  if (plan.rational_excess) json.field("rational_excess", *plan.rational_excess);
  if (plan.fit) append_json(*plan.fit, json);
}

/// The sentences that the text prints among its figures, together, for readers of JSON.
std::vector<std::string> warnings_of(const config::Config& config, const Plan& plan) {
  std::vector<std::string> warnings{engine::short_of_budget(config, plan.mechanism),
                                    plan.delta_warning,
                                    plan.no_step,
                                    config::unit_is_the_record(config),
                                    config::too_few_batches(config),
                                    config::restarts_in_vain(config),
                                    engine::part_of_budget(config, plan.mechanism)};
  if (plan.prediction) {
    warnings.insert(warnings.end(), plan.prediction->advice.begin(), plan.prediction->advice.end());
  }
  if (plan.users) warnings.insert(warnings.end(), plan.users->advice.begin(), plan.users->advice.end());
  return warnings;
}

/// The plan as one object. It has the figures of print(), and the sentences of advice as "warnings".
std::string to_json(const config::Config& config, const Plan& plan) {
  const config::CalibratedStage& stage = plan.mechanism.main();
  return publish::object_text([&](publish::JsonWriter& json) {
    json.field("stream", config.stream);
    json.field("dimension", config.descent.dimension);
    json.field("correlation", config::correlation_name(config, stage.correlation));
    append_restarts(stage.correlation, json);
    publish::append_neighbours(engine::promise_of(config, true), json);
    append_schema(config.schema, json);
    json.field("sigma", stage.sigma.value());
    json.field("displacement", stage.displacement.value());
    json.field("gamma_limit", stage.sensitivity.value());
    json.field("delta", config.privacy.delta.value());
    json.field("conversion", "gaussian");
    append_spend(config, plan, json);
    publish::append_groups(plan.groups, json);
    append_stages(plan.mechanism, config.descent.minibatch, json);
    append_predictions(config, plan, json);
    config::append_warnings(warnings_of(config, plan), json);
  });
}

/// The settings, where some of them are to be measured: then nothing else can be planned yet.
std::optional<config::Config> to_measure(const PlanArguments& arguments) {
  const auto& [file, overrides] = arguments.config;
  config::Config asked = config::read_config_to_measure(file, overrides, config::purpose_of(file, overrides));
  measure::require_measurable_by_any(asked);
  // All settings are numbers: the plan can be made.
  if (asked.measuring.keys.empty()) return std::nullopt;
  return asked;
}

/// Writes the report and the picture that are asked for. Both files are made before the curves are computed, so that
/// a path that cannot be written is told at once.
void draw(const config::Config& config, const PlanArguments& arguments, const Plan& plan) {
  const bool in_terminal = arguments.chart == terminal_chart;
  const std::string chart = in_terminal ? std::string() : arguments.chart;
  console::require_outside(config.state.directory, {{"--report", arguments.report}, {"--chart", chart}});
  console::OperatorFile page(arguments.report, journal::Audience::everyone);
  console::OperatorFile picture(chart, journal::Audience::everyone);
  // The curves take seconds, and are computed for a report or a picture alone.
  const PlanCurves curves = plan_curves(config, plan.mechanism, plan.prediction, plan.why_no_prediction,
                                        arguments.records > 0 ? arguments.records : config.problem.records);
  if (!arguments.report.empty()) {
    page.write(plan_page(config, plan.mechanism, plan.mechanism.spend.limit(), plan.spend, curves,
                         plan_command(config, arguments)));
  }
  if (in_terminal) return print_chart(curves);
  if (!arguments.chart.empty()) picture.write(chart::svg_file(plan_chart(curves, 720)));
}

/// The size that is told, or else the one that [plan] guesses.
measure::InputSize size_of(const config::Config& asked, const PlanArguments& arguments) {
  const std::uint64_t guessed = asked.guesses.users.value_or(0);
  return {arguments.records > 0 ? arguments.records : asked.problem.records,
          arguments.users > 0 ? arguments.users : guessed, arguments.passes};
}

}  // namespace

Exit plan(const PlanArguments& arguments) {
  // Both would go to standard output, and what reads the JSON could not read the picture.
  if (arguments.json && arguments.chart == terminal_chart) {
    throw Failure(Exit::usage, "--chart draws in the terminal, where --json prints: name a file, --chart plan.svg");
  }
  if (const auto asked = to_measure(arguments)) {
    if (!arguments.report.empty() || !arguments.chart.empty()) {
      throw Failure(Exit::usage, arguments.config.file +
                                     ": some settings are \"private\": before they are measured there is nothing to "
                                     "draw; leave out --report and --chart");
    }
    // Before anything is measured, only the measuring itself can be planned.
    fmt::print("{}", arguments.json ? measure::plan_json(*asked, size_of(*asked, arguments)) + '\n'
                                    : measure::plan_text(*asked, size_of(*asked, arguments)));
    return Exit::done;
  }
  if (config::purpose_of(arguments.config.file, arguments.config.overrides) == config::Purpose::table) {
    return plan_table(arguments);
  }
  const config::Config config = config::read_config(arguments.config.file, arguments.config.overrides);
  const Plan plan = make_plan(config, arguments);
  if (arguments.json) {
    fmt::print("{}\n", to_json(config, plan));
  } else {
    print(config, plan);
  }
  if (!arguments.report.empty() || !arguments.chart.empty()) draw(config, arguments, plan);
  return Exit::done;
}

std::string plan_json(const PlanArguments& arguments) {
  if (const auto asked = to_measure(arguments)) return measure::plan_json(*asked, size_of(*asked, arguments));
  if (config::purpose_of(arguments.config.file, arguments.config.overrides) == config::Purpose::table) {
    return table_plan_json(arguments);
  }
  const config::Config config = config::read_config(arguments.config.file, arguments.config.overrides);
  return to_json(config, make_plan(config, arguments));
}

}  // namespace nustream::cli
