// The command: read the table, settle the design, refuse or warn by public figures, then make one run after another,
// each in a noise epoch of its own. What is reported is read back from the folder's releases, so that nothing is
// shown which was not committed.
#include "estimate/estimate.h"

#include <csignal>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "check/first_look.h"
#include "check/long_records.h"
#include "config/advice.h"
#include "console/path_printer.h"
#include "console/signals.h"
#include "console/warnings.h"
#include "decode/one_line_files.h"
#include "engine/table_design.h"
#include "estimate/comparison.h"
#include "estimate/descent_run.h"
#include "estimate/report.h"
#include "estimate/table.h"
#include "nustream/privacy/zcdp.h"
#include "report/files.h"
#include "report/report.h"
#include "secrets/locked_memory.h"

namespace nustream::estimate {
namespace {

folder::Options session_options(const Options& options, folder::Start start) {
  folder::Options session;
  session.command = "estimate";
  session.start = start;
  session.files = options.files;
  session.insecure_seed = options.insecure_seed;
  session.compared = options.compare_nonprivate;
  session.goes_on_behind_measuring = options.goes_on_behind_measuring;
  session.from_start = true;         // intervals by runs need runs that are independent of each other
  session.from = std::to_string(0);  // every run begins at the table's first record
  return session;
}

/// Whether a command for several runs was stopped right after one of them was finished, with more runs to come.
bool ends_with_one_of_several(const std::vector<publish::ShownRelease>& path, const engine::TableDesign& design) {
  return finished_runs(path, design.steps) % design.runs != 0 && path.back().step == design.steps;
}

/// What the runs of one estimate have cost together. The last of them may have been stopped.
Rho spent_along(const config::Mechanism& mechanism, const engine::TableDesign& design,
                const std::vector<publish::ShownRelease>& path) {
  const std::uint64_t finished = finished_runs(path, design.steps) % design.runs;
  const bool is_whole = path.back().step == design.steps;
  // A remainder of 0 after a whole run says that all runs of the estimate are done.
  if (is_whole && finished == 0) return design.of_all_runs(mechanism.spend.limit());
  std::vector<Rho> spent(finished, mechanism.spend.limit());
  if (!is_whole) spent.push_back(mechanism.spend.after(StepCount{path.back().step}));
  return privacy::compose(spent);
}

/// The report's public figures, from settings and released iterates alone.
Report report_of(const config::Config& config, const config::Mechanism& mechanism, const engine::TableDesign& design,
                 const RunEnd& end, const std::vector<publish::ShownRelease>& path) {
  const Rho spent = spent_along(mechanism, design, path);
  const bool is_finished = end.signal == 0 && end.exhausted.empty();
  // For instrumental variables by sums, only the noise of the reduced form is known, which says little of the slopes.
  const bool is_noise_known = is_finished && !(config.moments && config.descent.first_stage);
  const auto status = is_finished ? status_along(config, path) : std::nullopt;
  publish::ShownRelease last = path.back();
  if (status) last.status.verdict = inference::name(verdict_of(*status));
  last.status.asks_interval = config.intervals.kind != config::Intervals::Kind::none;
  return {.stream = config.stream,
          .design = design,
          .of_sums = config.moments.has_value(),
          .correlation = config::correlation_name(config, mechanism.main().correlation),
          .last = std::move(last),
          .intervals = is_finished ? intervals_along(config, path, status) : std::nullopt,
          .status = status,
          .ending = is_finished       ? Report::finished
                    : end.signal != 0 ? "interrupted"
                                      : "budget reached",
          .finished_runs = is_finished ? design.runs : finished_runs(path, design.steps) % design.runs,
          .rho = spent.value(),
          .epsilons = publish::epsilons_of(spent, config.privacy.deltas()),
          .ledger_rho = end.ledger_rho,
          .ledger_epsilons = publish::epsilons_of(Rho{end.ledger_rho}, config.privacy.deltas()),
          .predicted_stddev = is_noise_known ? engine::predicted_stddev(config, mechanism, design) : std::nullopt,
          .is_private = path.back().promise.is_private,
          .folder = config.state.directory,
          .key_file = end.key_file,
          .counts = {},
          .rejects = end.rejects,
          .degeneracy = {},
          .comparison = {},
          .ranges = config.ranges};
}

std::optional<std::pair<double, double>> adassp_bounds(const Options& options) {
  if (!options.compare_x_bound || !options.compare_y_bound) return std::nullopt;
  return std::pair{*options.compare_x_bound, *options.compare_y_bound};
}

/// Says how the runs ended and how to go on, and returns the exit code. `is_reported` says that there are releases of
/// this run or of the runs that belong to it.
Exit say_how_it_ended(const config::Config& config, const Options& options, const RunEnd& end, bool is_reported) {
  if (!end.exhausted.empty()) {
    fmt::print(stderr, "nustream: stopped: {}; {}\n", end.exhausted,
               is_reported ? "what was released stays" : "no step was taken");
    return Exit::exhausted;
  }
  if (end.signal == 0) return Exit::done;
  std::string go_on = "--resume";
  if (options.compare_x_bound) go_on += fmt::format(" --adassp-x-bound {}", *options.compare_x_bound);
  if (options.compare_y_bound) go_on += fmt::format(" --adassp-y-bound {}", *options.compare_y_bound);
  fmt::print(stderr, "nustream: interrupted; everything so far is committed; go on with: {}\n",
             folder::command_to_go_on(config, session_options(options, folder::Start::resume), go_on));
  return end.signal == SIGINT ? Exit::interrupted : Exit::done;
}

/// Warns before anything is spent where the noise will be large. Only settings and the number of records decide that.
void warn_of_noise(const config::Config& config, const std::optional<double>& stddev, std::uint64_t steps) {
  constexpr double large = 1;  // coefficients of centred and scaled columns are mostly smaller than 1
  if (!stddev || *stddev < large) return;
  if (config.moments) {
    fmt::print(stderr,
               "nustream: warning: after {} step{} the noise of this budget has a standard deviation of {:.3g} in a "
               "coefficient (working units): take fewer steps (a larger release.every), smaller bounds in [moments] "
               "or more rho; nustream plan shows what they leave\n",
               steps, steps == 1 ? "" : "s", *stddev);
    return;
  }
  fmt::print(
      stderr,
      "nustream: warning: after {} steps the noise of this budget has a standard deviation of {:.3g} in a "
      "coordinate (working units): take fewer steps, a smaller clip norm or more rho; nustream plan shows what "
      "they leave\n",
      steps, *stddev);
}

/// Whether the folder has a file of releases. A run that was stopped before its first step leaves none.
bool has_releases(const config::Config& config) {
  std::error_code unknown;
  return std::filesystem::exists(std::filesystem::path(config.state.directory) / journal::folder_files::releases,
                                 unknown);
}

/// Tells the operator about the table's records before the first step.
void say_at_first(const config::Config& config, const config::Mechanism& mechanism, const Table& table,
                  const Options& options) {
  console::say_for_operator(check::unusable_at_first(table.counts, config.input, config.schema));
  if (table.counts.rejected > 0) console::say_for_operator(decode::files_of_one_line(config.input, config.schema));
  if (options.start == folder::Start::resume) return;
  const record::RowSlice all = table.slice(0, table.rows());
  check::Tally first = table.counts;
  const check::ClipCount clips = check::count_clips(config, mechanism, all, first.records - first.rejected);
  first.gradients = clips.gradients;
  first.clipped = clips.clipped;
  console::say_for_operator(check::clipped_at_first(first, check::clip_of(config), config.input.look));
  console::say_for_operator(table.constant);
  if (config.input.longest) console::say_for_operator(check::long_record(*config.input.longest));
  console::say_for_operator(table.times);
}

/// How many runs of an estimate under these settings are finished already.
std::uint64_t finished_before(const config::Config& config, const std::string& digest,
                              const engine::TableDesign& design) {
  if (design.runs == 1 || !has_releases(config)) return 0;
  return finished_runs(released_under(config.state.directory, digest), design.steps) % design.runs;
}

/// Refuses where earlier runs of this estimate may have been over another table: all runs of an interval have to be
/// over one table.
void require_one_table(const DescentRun& one, const config::Config& config, const engine::TableDesign& design,
                       std::uint64_t before) {
  if (before == 0 || one.is_like_last_epoch()) return;
  throw Failure(
      Exit::data,
      fmt::format("{}: holds {} of {} runs that belong together, and its last epoch is not known to be one of "
                  "them over this table; choose another state.directory",
                  config.state.directory, before, design.runs));
}

/// Says, before a run spends anything, which run of the estimate it is (`before` are finished). Before the command's
/// first run it also says where a new epoch that was asked for begins, and warns where the budget will end a run.
void introduce(DescentRun& one, const engine::TableDesign& design, const Options& options, std::uint64_t before,
               bool is_first) {
  if (options.quiet) return;
  if (is_first && options.start == folder::Start::new_epoch && !one.begun().empty()) {
    fmt::print(stderr, "nustream: {}, as every run of an estimate does\n", one.begun());
  }
  const std::string advice = is_first ? one.short_of_budget(design.runs - before - 1) : std::string();
  if (!advice.empty()) fmt::print(stderr, "nustream: warning: {}\n", advice);
  if (!options.json && design.runs > 1) {
    fmt::print("run {} of {}, under noise and rho of its own\n", before + 1, design.runs);
  }
}

/// The result of all runs of a command.
struct RunsEnd {
  RunEnd last;
  bool rejects_written = true;
  std::vector<publish::ShownRelease> path;  ///< the releases of all runs
  std::uint64_t gradients = 0;              ///< taken by this command's runs, for the operator
  std::uint64_t clipped = 0;                ///< how many of those were clipped
};

/// Says the counts of a run that fails, just as a run that succeeds says them at its end: they show whether its
/// records were the trouble.
void say_what_was_taken(const Table& table, DescentRun& one, const RunsEnd& before,
                        const config::InputSettings& input) {
  console::OperatorCounts counts = table.counts;
  counts.gradients = before.gradients + one.gradients();
  counts.clipped = before.clipped + one.clipped();
  console::print_for_operator(counts, {}, input);
}

/// Makes one run after the other, each with its own path on standard output, until all runs of the estimate are done.
RunsEnd play_runs(const config::Config& config, const config::Mechanism& mechanism, const engine::TableDesign& design,
                  Table& table, const Options& options, TableWitness& witness, folder::AccountShare& share,
                  const std::atomic<int>& stop) {
  const bool lines = !options.quiet && !options.json;
  folder::Start start = options.start;
  RunsEnd all;
  bool introduced = false;
  console::PromiseWarnings promise;
  do {
    console::PathPrinter printer(lines ? stdout : nullptr, console::PathPrinter::Count::steps);
    {
      // The list of rejects is written once, because all runs are over the same table.
      DescentRun one(config, mechanism, design, table, session_options(options, start), printer, witness,
                     std::exchange(table.reject_lines, {}));
      share.begin(one.ledger_total());
      one.name_limit(share.limit());
      if (one.has_steps_left()) {
        const std::uint64_t before = finished_before(config, one.digest(), design);
        require_one_table(one, config, design, before);
        if (!introduced) say_at_first(config, mechanism, table, options);
        introduce(one, design, options, before, !std::exchange(introduced, true));
      }
      promise.tell(one.warnings());
      try {
        all.last = one.go(stop);
      } catch (const Failure&) {
        say_what_was_taken(table, one, all, config.input);
        throw;
      }
      promise.tell(one.warnings());
    }
    printer.finish();
    all.gradients += all.last.gradients;
    all.clipped += all.last.clipped;
    all.rejects_written = all.rejects_written && all.last.rejects.is_written;
    // A run that was stopped before its first step leaves no file of releases to read.
    const bool is_there = all.last.steps > 0 || has_releases(config);
    all.path = is_there ? released_under(config.state.directory, all.last.digest) : decltype(all.path)();
    if (all.last.signal != 0 || !all.last.exhausted.empty()) return all;
    // The next run draws a key of its own: intervals take the runs as independent, and their ρ add up.
    start = folder::Start::new_epoch;
  } while (finished_runs(all.path, design.steps) % design.runs != 0);
  return all;
}

void require_allowed(const config::Config& config, const Options& options) {
  if (!options.compare_nonprivate) return;
  if (!is_comparable(config)) {
    throw Failure(Exit::usage,
                  "--compare-nonprivate: only linear and Huber losses have an answer to compare with; leave it out");
  }
  if (options.json && options.operator_json.empty()) {
    throw Failure(
        Exit::usage,
        "--compare-nonprivate: its answers are not private and cannot go into --json; add --operator-json FILE for "
        "them");
  }
}

void warn_of_settings(const config::Config& config, const config::Mechanism& mechanism,
                      const engine::TableDesign& design, const Table& table) {
  warn_of_noise(config, engine::predicted_stddev(config, mechanism, design), design.steps);
  console::warn(publish::large_delta(config.privacy.deltas(), table.rows()));
  console::warn(config::unit_is_the_record(config));
  console::warn(config::dotted_member(config));
  console::warn(config::too_few_batches(config));
}

Report with_counts(Report report, const Table& table, const RunsEnd& runs, const config::Config& config) {
  report.counts = table.counts;
  report.counts.of_sums = config.moments.has_value();
  report.counts.gradients = runs.gradients;
  report.counts.of_users = config.users.has_value();
  report.counts.clipped = runs.clipped;
  report.rejects.is_written = runs.rejects_written;
  report.rejects.is_cut = table.rejects_cut;
  return report;
}

void warn_of_missing_checkpoints(const config::Config& config, const Report& report,
                                 const std::vector<publish::ShownRelease>& path) {
  const bool are_wanted = config.intervals.kind == config::Intervals::Kind::checkpoints;
  if (!are_wanted || !report.is_finished() || has_all_values(config, path)) return;
  fmt::print(stderr,
             "nustream: warning: no intervals: not all of the {} checkpoints are released, as this run was begun "
             "with another release.every\n",
             config.intervals.count);
}

/// The answer, in each of the forms that were asked for.
void show(const Report& report, const config::Config& config, const config::Mechanism& mechanism,
          const Options& options, report::Files& files) {
  files.write(operator_json(report), config, mechanism,
              {report::again(config, session_options(options, options.start)), report.intervals});
  if (options.json) fmt::print("{}\n", to_json(report));
  if (!options.quiet && !options.json) print(report, stdout);
  console::print_for_operator(report.counts, report.rejects, config.input);
  console::say_for_operator(report.degeneracy);
}

}  // namespace

Exit run(config::Config config, const Options& options, folder::AccountShare& share) {
  secrets::harden_process();
  const std::atomic<int>& stop = console::watch_signals();
  require_allowed(config, options);
  if (!config.chosen.empty() && !options.quiet) fmt::print(stderr, "nustream: {}\n", config.chosen);
  report::Files files(options.operator_json, options.report, options.chart);
  if (config.input.framing_is_trusted) config.input.longest = std::make_shared<config::LongestRecord>();
  // A folder that has an epoch already may have published results of its records.
  const bool is_first = options.start == folder::Start::fresh;
  Table table = read_table(config, is_first ? decode::OtherKinds::refused : decode::OtherKinds::read);
  TableWitness witness(table);
  const engine::TableDesign design = engine::settle_design(config, table.rows());
  const config::Mechanism mechanism = make_mechanism(config, design.participation(), StepCount{design.steps});

  // With --min-usable, a table with too small a share of usable records is refused before anything is spent.
  if (options.min_usable && options.start != folder::Start::resume) {
    check::require_usable(table.counts, *options.min_usable, config.input.look);
  }
  if (!options.quiet) warn_of_settings(config, mechanism, design, table);

  const std::string degenerate = degeneracy(config, table);
  const Rho all{static_cast<double>(design.runs) * config.privacy.rho->value()};
  std::vector<Compared> comparison;
  if (options.compare_nonprivate)
    // The comparators see the table before it is padded with rows of zeros.
    comparison = compare(config, table, StepCount{design.steps}, all, adassp_bounds(options));
  table.pad_to_multiple_of(design.minibatch);

  const RunsEnd runs = play_runs(config, mechanism, design, table, options, witness, share, stop);
  // What was charged in advance and not spent goes back to the account.
  share.settle(Rho{runs.last.ledger_rho});
  const bool is_reported = runs.last.steps > 0 || ends_with_one_of_several(runs.path, design);
  const Exit code = say_how_it_ended(config, options, runs.last, is_reported);
  if (!is_reported) return code;

  Report report = with_counts(report_of(config, mechanism, design, runs.last, runs.path), table, runs, config);
  if (table.counts.rejected < table.counts.records) report.degeneracy = degenerate;
  if (report.is_finished()) report.comparison = std::move(comparison);
  warn_of_missing_checkpoints(config, report, runs.path);
  show(report, config, mechanism, options, files);
  return code;
}

}  // namespace nustream::estimate
