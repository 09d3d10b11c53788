// `nustream check`: tells without a run what a run would refuse. It reads the settings as the commands that take them
// would, and with --data also records, through the same decoding and clipping as a run but without noise,
// charge or release. What it then says depends on the records, and is for the operator alone.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "attach/preflight.h"
#include "attach/topic_requirements.h"
#include "check/data_check.h"
#include "check/findings.h"
#include "check/look.h"
#include "cli/commands.h"
#include "cli/run_files.h"
#include "config/advice.h"
#include "config/config.h"
#include "config/mechanism.h"
#include "config/ranges.h"
#include "config/settings_tree.h"
#include "decode/line_decoder.h"
#include "decode/message_columns.h"
#include "decode/reader.h"
#include "decode/same_file.h"
#include "decode/segment_rows.h"
#include "engine/budget_advice.h"
#include "local/settings.h"
#include "located.h"
#include "measure/fit.h"
#include "nustream/record/row.h"
#include "publish/epsilons.h"
#include "publish/json_writer.h"
#include "secrets/locked_memory.h"
#include "serve/settings.h"
#include "users/open_table.h"

namespace nustream::cli {

namespace {

/// Whether the file holds settings of local privacy, which differ from a stream's.
bool is_local(const ConfigArguments& config) {
  return config::SettingsTree(config.file, config.overrides).root().has("local");
}

/// Checks settings of local privacy. Each report pays for itself, so that its ε is all there is to plan.
Exit check_local(const CheckArguments& arguments) {
  const local::Settings settings = local::read_settings(arguments.config.file, arguments.config.overrides);
  const inference::LocalMechanism mechanism = local::make_mechanism(settings);
  const std::string digest = local::mechanism_digest(settings);
  if (arguments.json) {
    fmt::print("{}\n", publish::object_text([&](publish::JsonWriter& json) {
                 json.field("valid", true);
                 json.field("stream", settings.stream);
                 json.field("digest", digest);
               }));
    return Exit::done;
  }
  fmt::print("{}: valid; stream {}, {} features, mechanism digest {}\n", arguments.config.file, settings.stream,
             settings.bounds.dimension, digest);
  fmt::print("each report costs epsilon {:.6g} at delta {:.3g}; noise {:.6g} on x x', {:.6g} on x(y - {:.6g})\n",
             mechanism.epsilon().value(), settings.budget.delta.value(), mechanism.noise().second_moment.value(),
             mechanism.noise().cross_moment.value(), settings.bounds.label_centre);
  return Exit::done;
}

/// Whether any of the records that were read can be used.
bool is_usable(const check::Findings& findings) {
  return findings.tally.rejected < findings.tally.records;
}

/// Prints the verdict as JSON. For a table it says nothing about the noise, which depends on the number of records.
/// `findings` is null where no record was read; otherwise `plan` is the JSON of the plan for the number of records
/// that was found.
void print_json(const config::Config& config, const std::string& digest, std::span<const std::string> warnings,
                const check::Findings* findings = nullptr, std::string_view plan = {}) {
  fmt::print("{}\n", publish::object_text([&](publish::JsonWriter& json) {
               json.field("valid", findings == nullptr || is_usable(*findings));
               json.field("stream", config.stream);
               if (!config.measuring.keys.empty()) json.elements("measured", config.measuring.keys);
               if (digest.empty()) {
                 json.field("steps", config.estimate.steps);
               } else {
                 json.field("digest", digest);
               }
               config::append_warnings({warnings.begin(), warnings.end()}, json);
               if (findings == nullptr) return;
               json.raw("data", check::to_json(*findings));
               json.raw("plan", plan);
             }));
}

/// What a run over records none of which can be used would come to.
std::string what_a_run_would_be(const config::Config& config) {
  if (config.measuring.keys.empty()) return "a run would be noise alone";
  return fmt::format("a run would spend ranges.share = {:g} of its rho on measuring noise, and stop",
                     config.measuring.share);
}

/// What the settings are of; `digest` is empty for a table and where settings are to be measured.
std::string kind_of(const config::Config& config, const std::string& digest) {
  const std::size_t parameters = config.descent.dimension;
  if (!config.measuring.keys.empty())
    return fmt::format("{} parameters, {} settings to be measured", parameters, config.measuring.keys.size());
  return digest.empty()
             ? fmt::format("table {}, {} parameters, {} steps", config.stream, parameters, config.estimate.steps)
             : fmt::format("stream {}, {} parameters, settings digest {}", config.stream, parameters, digest);
}

/// Prints the verdict. `findings` is null where no record was read.
void print_head(const CheckArguments& arguments, const config::Config& config, const std::string& digest,
                std::span<const std::string> warnings, const check::Findings* findings) {
  const std::string verdict =
      findings == nullptr || is_usable(*findings)
          ? "valid"
          : fmt::format("the settings are valid, and NO RECORD CAN BE USED: {}", what_a_run_would_be(config));
  fmt::print("{}: {}; {}{}\n", arguments.config.file, verdict, kind_of(config, digest),
             findings != nullptr ? "" : " (settings alone: no record was read)");
  if (config.users && config.users->on_disk) {
    fmt::print("the table of users is on disk: {}\n",
               users::table_folder(config.state.directory, config.lane).string());
  }
  for (const std::string& each : warnings) fmt::print("but {}\n", each);
}

/// Whether to look at the topic. It is looked at where no file is named and the settings have brokers, if --records
/// asks for it or stream.input is missing.
bool reads_topic(const CheckArguments& arguments, const config::Config& config) {
  if (!arguments.files.empty() || config.kafka.brokers.empty()) return false;
  return arguments.records || config.input.files.empty();
}

/// Returns whether every step of a table takes all of its records. Running sums then have one step. Otherwise their
/// number of steps follows from the number of records, which is not known yet; it does not matter to what is clipped.
bool settle_table(config::Config& config, std::optional<StepCount>& steps) {
  if (!config.moments) return config.estimate.full_batch;
  const bool is_one_step = config.descent.minibatch == 0;
  config.descent.minibatch = std::max<std::uint64_t>(1, config.descent.minibatch);
  steps = StepCount{1};
  return is_one_step;
}

/// The dry run: reads the files that are named, or else the topic, or else stream.input, and tells what it found.
/// `config` has the files that are read, and gets what a table settles.
check::Findings look(const CheckArguments& arguments, config::Config& config, std::optional<StepCount> steps) {
  constexpr std::uint64_t records_of_a_topic = 10'000;
  const bool is_one_step = steps && settle_table(config, steps);
  std::optional<config::Mechanism> mechanism;  // nothing where what is clipped is not known before it is measured
  if (check::clips_are_known(config))
    mechanism = config::make_mechanism(config, privacy::Participation::once(), steps);
  check::DataCheck dry_run(config, mechanism ? &*mechanism : nullptr, is_one_step);
  if (reads_topic(arguments, config)) {
    std::map<std::string, std::string> examples;
    const std::uint64_t records = arguments.records.value_or(records_of_a_topic);
    const std::string source = check::look_at_topic(config, records, dry_run, examples);
    check::Findings found = dry_run.findings(source);
    found.examples = std::move(examples);
    return found;
  }
  if (config.input.files.empty()) {
    throw Failure(Exit::configuration,
                  config.file + ": --data has nothing to read: name FILE, or set stream.input or [kafka]");
  }
  check::Findings found = dry_run.findings(check::look_at_files(config, arguments.records, dry_run));
  if (found.tally.records == 0 && !arguments.records) throw decode::no_records(config.input);
  found.examples = check::examples_of(found.tally, config.input, config.schema);
  return found;
}

/// What a plan needs. The number of records is public, and a table cannot be planned without it. Settings are
/// measured from a whole input, or from the first ranges.records of a topic: where these were not all that was read
/// here, the number that was read says nothing about whether they are enough.
PlanArguments plan_of(const CheckArguments& arguments, const config::Config& config,
                      const check::Findings& findings) {
  PlanArguments plan;
  plan.config = arguments.config;
  const bool is_part = arguments.records.has_value() || reads_topic(arguments, config);
  if (config.measuring.keys.empty() || !is_part) plan.records = std::max<std::uint64_t>(findings.tally.records, 1);
  if (findings.users && !is_part) plan.users = *findings.users;
  return plan;
}

Exit judged(const CheckArguments& arguments, const config::Config& config, const check::Findings& findings) {
  if (!is_usable(findings)) {
    fmt::print(stderr, "nustream: no record can be used: {}; nothing was charged here\n",
               what_a_run_would_be(config));
    return Exit::unusable;
  }
  const double usable = 1 - findings.tally.unusable_share();
  if (!arguments.min_usable || usable >= *arguments.min_usable) return Exit::done;
  fmt::print(stderr, "nustream: of the records {} can be used, less than --min-usable {:g}\n",
             check::percent(findings.tally.records - findings.tally.rejected, findings.tally.records),
             *arguments.min_usable);
  return Exit::unusable;
}

void print_data(const PlanArguments& planned, const check::Findings& findings) {
  check::print(findings, stdout);
  if (!is_usable(findings)) return;
  fmt::print("\nWhat nustream plan says, of the settings{}:\n\n", planned.records > 0 ? " and so many records" : "");
  static_cast<void>(plan(planned));
}

/// Warns where a delta is large beside 1/records.
void add_large_delta(const config::Config& config, std::uint64_t records, std::vector<std::string>& warnings) {
  if (std::string large = publish::large_delta(config.privacy.deltas(), records); !large.empty())
    warnings.push_back(std::move(large));
}

/// Why attach would refuse the topic as it is, which the brokers tell, as a warning; "" where it would not. Where the
/// settings name no files, this function throws the refusal.
std::string warning_of_topic(const config::Config& config) {
  try {
    attach::require_input(config, config.kafka.person_gives_up());
    return {};
  } catch (const Failure& failure) {
    // Who may read the records, and does so here, may lack the right to read the topic's settings.
    if (failure.code() == Exit::permission) return std::string("attach needs a right more: ") + failure.what();
    if (config.input.files.empty() || failure.code() != Exit::configuration) throw;
    return std::string("attach would refuse this: ") + failure.what();
  }
}

/// The verdict, after a dry run where one is asked for. `steps` are those of a table; empty for a stream.
Exit finish(const CheckArguments& arguments, config::Config& config, const std::string& digest,
            std::vector<std::string> warnings, std::optional<StepCount> steps) {
  for (std::string& missing : missing_files(config)) warnings.push_back(std::move(missing));
  for (std::string& beyond : attach::beyond_usual_limits(config)) warnings.push_back(std::move(beyond));
  if (arguments.data && reads_topic(arguments, config)) {
    if (std::string warning = warning_of_topic(config); !warning.empty()) warnings.push_back(std::move(warning));
  }
  if (!arguments.data) {
    arguments.json ? print_json(config, digest, warnings) : print_head(arguments, config, digest, warnings, nullptr);
    return Exit::done;
  }
  const check::Findings findings = look(arguments, config, steps);
  const PlanArguments planned = plan_of(arguments, config, findings);
  // Where only a part was read, the plan knows no number of records, and does not tell it.
  const bool plan_is_silent = !config.measuring.keys.empty() && planned.records == 0 && config.problem.records == 0;
  if (plan_is_silent) add_large_delta(config, findings.tally.records, warnings);
  if (arguments.json) {
    print_json(config, digest, warnings, &findings, plan_json(planned));
  } else {
    print_head(arguments, config, digest, warnings, &findings);
    print_data(planned, findings);
  }
  return judged(arguments, config, findings);
}

/// Checks settings of which some are to be measured. What follows from those is not known yet.
Exit check_to_measure(const CheckArguments& arguments, config::Config& config, config::Purpose purpose,
                      const std::string& refusal) {
  std::vector<std::string> warnings{config::unit_is_the_record(config), config::dotted_member(config)};
  std::erase(warnings, std::string());
  if (!arguments.data) add_large_delta(config, config.problem.records, warnings);
  if (!refusal.empty()) warnings.push_back("attach would refuse this: " + refusal);
  std::optional<StepCount> steps;
  if (purpose == config::Purpose::table) steps = StepCount{config.estimate.steps};
  return finish(arguments, config, "", warnings, steps);
}

/// Refuses the times of users' windows that replay would refuse. For a trusted time's column, the place may have to
/// be read from a file's header, which is no record. A file that does not exist yet is not looked at.
void require_times_of_windows(const config::Config& config) {
  if (!config.users || !config.users->limits->windows() || config.input.files.empty()) return;
  const auto is_there = [](const std::string& file) { return std::filesystem::is_regular_file(file); };
  if (config.kafka.brokers.empty()) decode::require_append_times(config.input);
  if (config.input.append_times_only || !std::ranges::all_of(config.input.files, is_there)) return;
  static_cast<void>(decode::open_reader(config.input, config.schema));
}

/// Whether a run reads files of lines and nothing else. Columns may be named beside stream.header = true for messages
/// and for recorded segments, which have no header.
bool reads_lines_alone(const config::Config& config) {
  const std::vector<std::string>& files = config.input.files;
  const auto holds_lines = [](const std::string& file) {
    return std::filesystem::is_regular_file(file) && !decode::is_segment(file);
  };
  return config.kafka.brokers.empty() && !files.empty() && std::ranges::all_of(files, holds_lines);
}

/// Refuses what the columns that the settings name contradict, without a record: where a public time or a private
/// target has to stand in a line.
void require_binding(const config::Config& config) {
  if (!has_columns(config.input)) return;
  if (config.input.header && (config.input.columns.empty() || !reads_lines_alone(config))) return;
  const record::RowBuilder builder(config.schema);
  // What is beside a message's value is found in messages alone, and require_attachable() looks at those.
  const auto is_beside = [](const record::Field& field) { return decode::is_message_column(field.column); };
  const bool names_beside =
      std::ranges::any_of(builder.fields(), is_beside) || decode::is_message_column(config.input.time_column);
  if (names_beside && !reads_lines_alone(config)) return;
  located(config.file, [&] {
    static_cast<void>(
        decode::make_line_decoder(config.input, builder.fields(), decode::private_column(config.schema)));
  });
}

/// Returns why attach would refuse settings that a run over files takes, or "" where it would not. Where the settings
/// themselves name no files (`names_files`), this function throws the refusal.
std::string refused_by_attach(const config::Config& config, config::Purpose purpose, bool names_files) {
  if (config.kafka.brokers.empty()) return {};
  try {
    // attach reads the settings of a table as those of a stream.
    if (purpose == config::Purpose::table) {
      static_cast<void>(config::read_config_to_measure(config.file, config.overrides, config::Purpose::stream));
    }
    attach::require_key_file(config);
    attach::require_attachable(config);
    require_files_of_service(config);
    return {};
  } catch (const Failure& failure) {
    if (!names_files) throw;
    return failure.what();
  }
}

}  // namespace

Exit check(const CheckArguments& arguments) {
  // The settings of local privacy have a grammar of their own, which the reader of streams would refuse.
  if (is_local(arguments.config)) {
    if (arguments.data)
      throw Failure(Exit::usage, "--data: reports of local privacy are made record by record: there is no dry run");
    return check_local(arguments);
  }
  secrets::harden_process();  // before a key is read
  const std::vector<std::string> overrides = overrides_of(arguments.config, arguments.kafka);
  const config::Purpose purpose = config::purpose_of(arguments.config.file, overrides);
  // Settings that are "private" are let through here, and looked at by check_to_measure().
  config::Config config = config::read_config_to_measure(arguments.config.file, overrides, purpose);
  add_properties(arguments.kafka, config.kafka);
  measure::require_measurable_by_any(config);
  // What only some commands use is checked too: a wrong address should not show when the service starts.
  serve::check(config.serve);
  attach::preflight(config);
  // From here on the files are those that are read, which may be others than those of the settings.
  const bool names_files = !config.input.files.empty();
  const bool by_hand = !arguments.files.empty();
  if (by_hand) config.input.files = arguments.files;
  decode::require_different_files(config.input.files, {config.file, by_hand, purpose == config::Purpose::stream});
  require_times_of_windows(config);
  require_binding(config);
  require_key(config);
  const std::string refusal = refused_by_attach(config, purpose, names_files);
  if (!config.measuring.keys.empty()) return check_to_measure(arguments, config, purpose, refusal);
  const bool is_table = purpose == config::Purpose::table;
  std::string digest;  // of a stream; empty for a table
  std::vector<std::string> warnings;
  std::optional<StepCount> steps;  // of a table; empty for a stream
  if (is_table) {
    steps = StepCount{config.estimate.steps};
    for (std::string& each : std::vector{config::unit_is_the_record(config), config::dotted_member(config),
                                         config::too_few_batches(config), engine::short_of_table(config)}) {
      if (!each.empty()) warnings.push_back(std::move(each));
    }
  } else {
    const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
    digest = config::settings_digest(config, mechanism);
    warnings = attach::warnings_ahead(config, mechanism);
    if (std::string part = engine::part_of_budget(config, mechanism); !part.empty())
      warnings.push_back(std::move(part));
  }
  // With --data the plan tells it, for the records that were found.
  if (!arguments.data) add_large_delta(config, config.problem.records, warnings);
  if (!refusal.empty()) warnings.push_back("attach would refuse this: " + refusal);
  return finish(arguments, config, digest, warnings, steps);
}

}  // namespace nustream::cli
