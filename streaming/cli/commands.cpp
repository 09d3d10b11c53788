// The commands that run something, each from parsed arguments to the run() of its room: which settings are read for
// which purpose, which words of the command line replace which settings, and what is measured before.
#include "cli/commands.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "attach/attach.h"
#include "audit/audit.h"
#include "config/ranges.h"
#include "config/typed.h"
#include "console/operator_file.h"
#include "console/signals.h"
#include "decode/same_file.h"
#include "decode/segment_rows.h"
#include "error.h"
#include "estimate/estimate.h"
#include "folder/account_share.h"
#include "located.h"
#include "measure/measure.h"
#include "recording/record_topic.h"
#include "replay/replay.h"
#include "secrets/locked_memory.h"

namespace nustream::cli {
namespace {

/// Measures the settings that are "private", prints the result, and writes the settings to a new file where one is
/// named. Other settings stay as they are. What measuring spends is charged to the folder and reported to `share`.
measure::Settled settle_ranges(config::Config asked, config::Purpose purpose, const folder::Options& options,
                               const std::string& write_config, folder::AccountShare& share) {
  // Nothing is to be measured: the settings go through as they are.
  if (asked.measuring.keys.empty()) {
    if (write_config.empty()) return {std::move(asked), options};
    throw Failure(Exit::usage,
                  "--write-config: no setting of " + asked.file + " is \"private\"; it is what it would hold");
  }
  secrets::harden_process();
  static_cast<void>(console::watch_signals());
  // Before anything is spent: what is measured cannot be measured again for nothing.
  console::require_new_file(write_config);
  measure::Settled settled = measure::settle(asked, purpose, options, share);
  if (!options.json && !options.quiet) measure::show(settled, asked);
  if (!write_config.empty()) {
    console::write_new_file(write_config, measure::used_settings(settled.config, asked, asked.state.directory),
                            "what was measured is committed; the same command with --resume goes on");
    fmt::print(stderr,
               "nustream: {} holds the settings that are used; a run of it over the same records is a second spend, "
               "and adds to the same ledger: begin it with --new-epoch{}\n",
               write_config, purpose == config::Purpose::stream ? " --from 0" : "");
  }
  return settled;
}

/// Reads "max", which gives no factor, or a factor such as 60x.
std::optional<double> speed_factor(const std::string& text) {
  if (text == "max") return std::nullopt;
  std::size_t end = 0;
  double factor = 0;
  try {
    factor = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  // stod() reads as far as it can, so that "60" and "60xx" are told from "60x" by what is left.
  if (end == 0 || text.substr(end) != "x" || !(factor > 0)) {
    throw Failure(Exit::usage, "--speed " + text + ": write max, or a factor such as 1x or 60x");
  }
  return factor;
}

/// Reads the file as a stream's. A file that describes a table as well is read so, too. Where it describes a table
/// alone, the failure names the command that takes it.
config::Config read_stream(const std::string& file, const std::vector<std::string>& overrides) {
  const auto read = [&] { return config::read_config_to_measure(file, overrides, config::Purpose::stream); };
  if (config::purpose_of(file, overrides) == config::Purpose::stream) return read();
  return with_advice(Exit::configuration,
                     "with its section [estimate] this file is a table's: nustream estimate takes it as it is", read);
}

/// Has the run read the files that were typed, and its messages name them.
void take_files(const std::vector<std::string>& files, config::Config& config) {
  config.input.files = files;
  config::name_look(config, files);
}

}  // namespace

// Files and lane of the command line go before those of the settings.
Exit replay(const ReplayArguments& arguments) {
  const auto& [file, overrides] = arguments.config;
  config::Config config = read_stream(file, overrides);
  // Files on the command line are relative to the working directory, those of the configuration to its folder.
  const folder::Options& typed = arguments.options;
  if (!typed.files.empty()) take_files(typed.files, config);
  if (config.input.files.empty()) {
    throw Failure(Exit::configuration, arguments.config.file +
                                           ": stream.input is missing; set it, or name FILE after "
                                           "the configuration");
  }
  decode::require_different_files(config.input.files, {file, !typed.files.empty(), true});
  if (typed.lane) {
    config.lane = LaneId{*typed.lane};
    config.input.partition.reset();  // --lane was given on purpose: any partition may be this lane
  } else if (!config.input.partition && config.input.files.size() == 1 &&
             decode::is_segment(config.input.files.front())) {
    config.lane = LaneId{decode::segment_header(config.input).partition};  // the lane that attach would have for it
  }
  folder::Options options = typed;
  if (arguments.resume) options.start = folder::Start::resume;
  if (arguments.new_epoch) options.start = folder::Start::new_epoch;
  options.speed = speed_factor(arguments.speed);
  console::require_outside(config.state.directory, {{"--operator-json", options.operator_json},
                                                    {"--report", options.report},
                                                    {"--chart", options.chart},
                                                    {"--write-config", arguments.write_config}});
  // One share for measuring and for the run: what is measured is charged to the same member of an account.
  folder::AccountShare share(folder::share_of(config, !options.insecure_seed), config.privacy.budget);
  measure::Settled settled =
      settle_ranges(std::move(config), config::Purpose::stream, options, arguments.write_config, share);
  return replay::run(std::move(settled.config), settled.options, share);
}

Exit estimate(const EstimateArguments& arguments) {
  const auto& [file, overrides] = arguments.config;
  // Some settings may be "private" still: they are measured below.
  config::Config config = config::read_config_to_measure(file, overrides, config::Purpose::table);
  if (!arguments.files.empty()) take_files(arguments.files, config);
  if (config.input.files.empty()) {
    throw Failure(Exit::configuration, arguments.config.file +
                                           ": stream.input is missing; set it, or name FILE after "
                                           "the configuration");
  }
  decode::require_different_files(config.input.files, {file, !arguments.files.empty()});
  estimate::Options options = arguments.options;
  options.files = arguments.files;
  if (arguments.resume) options.start = folder::Start::resume;
  if (arguments.new_epoch) options.start = folder::Start::new_epoch;
  console::require_outside(config.state.directory, {{"--operator-json", options.operator_json},
                                                    {"--report", options.report},
                                                    {"--chart", options.chart},
                                                    {"--write-config", arguments.write_config}});
  // What of these options concerns the folder, for measuring in it.
  folder::Options session;
  session.command = "estimate";
  session.start = options.start;
  session.files = arguments.files;
  session.insecure_seed = options.insecure_seed;
  session.compared = options.compare_nonprivate;
  session.min_usable = options.min_usable;
  session.json = options.json;
  session.quiet = options.quiet;
  folder::AccountShare share(folder::share_of(config, !options.insecure_seed && !options.compare_nonprivate),
                             config.privacy.budget);
  measure::Settled settled =
      settle_ranges(std::move(config), config::Purpose::table, session, arguments.write_config, share);
  options.start = settled.options.start;
  options.goes_on_behind_measuring = settled.options.goes_on_behind_measuring;
  options.min_usable = settled.options.min_usable;
  return estimate::run(std::move(settled.config), options, share);
}

namespace {

/// Options that the process must not repeat when it starts itself again. The settings are written already. A gap may
/// be accepted only where the operator knows of it, and not when a later one is met.
const std::array<console::OnceOption, 2> once{{{"--write-config", true}, {"--accept-gap", false}}};

}  // namespace

// The service may ask to begin anew, for files that only a new process reads. It has closed everything by then, so
// that the process can be replaced by itself.
Exit attach(const AttachArguments& arguments) {
  if (arguments.min_usable) {
    throw Failure(
        Exit::usage,
        "--min-usable: attach has no such option: readers wait for a lane's releases, and their absence would tell "
        "of its records; look at them beforehand with: nustream check " +
            arguments.config.file + " --data --records 1000 --min-usable SHARE");
  }
  try {
    attach::Options options = arguments.options;
    options.properties = arguments.kafka.properties;
    return attach::run(read_config(arguments.config, arguments.kafka), options);
  } catch (const console::StartAgain&) {
    console::start_again(once);  // nothing of the service is left by now
  }
}

Exit audit(const AuditArguments& arguments) {
  const auto& [file, overrides] = arguments.config;
  const config::Purpose purpose = config::purpose_of(file, overrides);
  config::Config config = config::read_config(file, overrides, purpose);
  return audit::run(std::move(config), purpose, arguments.options);
}

Exit record(const RecordArguments& arguments) {
  // Settings that are "private" are accepted here, because they will be measured from the recording.
  config::Config config = config::read_config_to_measure(
      arguments.config.file, overrides_of(arguments.config, arguments.kafka), config::Purpose::stream);
  add_properties(arguments.kafka, config.kafka);
  return recording::run(config, arguments.options);
}

}  // namespace nustream::cli
