// The command line: the grammar of the commands that need no broker, the order in which help lists all of them, and
// run(), which turns whatever a command throws into one line and an exit code (docs/exit-codes.md). Parsing sets a
// Job and does nothing else; the job runs once the whole line was understood.
#include "cli/commands.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "config/nearest.h"
#include "log/log.h"
#include "nustream/base/error.h"
#include "version.h"

namespace nustream::cli {
namespace {

// Each of these functions keeps its arguments in static objects: the jobs run after the function has returned.
void add_plan(CLI::App& app, Job& job) {
  static PlanArguments arguments;
  CLI::App* command = app.add_subcommand("plan", "what a budget buys, before any data is read");
  add_config_arguments(*command, arguments.config);
  auto* passes = command->add_option("--passes", arguments.passes, "as for replay; needs --records");
  passes->check(positive());
  // Over several passes a record takes part again after a whole pass, so that its cost depends on how long a pass is.
  passes->needs(command->add_option("--records", arguments.records, "records of one pass, or of the table: public"));
  command->add_flag("--json", arguments.json, "print JSON");
  command->add_option("--report", arguments.report, "write spend and predicted errors side by side as one HTML file");
  command
      ->add_option_function<std::vector<std::string>>(
          "--chart",
          [](const std::vector<std::string>& values) {
            const std::string& value = values.empty() ? std::string() : values.front();
            if (!value.empty() && value != terminal_chart && !value.ends_with(".svg")) {
              throw CLI::ValidationError("--chart " + value +
                                         ": allowed is a file that ends in .svg; --chart alone, behind the others, "
                                         "draws in the terminal");
            }
            arguments.chart = value.empty() ? terminal_chart : value;
          },
          "draw the predicted error below the plan, or write it as an SVG file")
      ->expected(0, 1)
      ->type_name("[FILE.svg]");
  command->callback([&job] { job = [] { return plan(arguments); }; });
}

// For example: nustream audit CONFIG --set privacy.rho=2 --runs 6000
void add_audit(CLI::App& app, Job& job) {
  static AuditArguments arguments;
  audit::Options& options = arguments.options;
  CLI::App* command = app.add_subcommand("audit", "what the releases prove about epsilon, against what is claimed");
  add_config_arguments(*command, arguments.config);
  command->add_option("--steps", options.steps, "steps of a game (8)");
  command->add_option_function<std::string>(
      "--at",
      [&options](const std::string& text) {
        // Anything else has to be the number of a step.
        options.at_random = text == "random";
        if (!options.at_random && !CLI::detail::lexical_cast(text, options.at.emplace()))
          throw CLI::ValidationError("--at: allowed is a step, or random");
      },
      "step of the record that the worlds differ in (0), or random: drawn anew for each audit");
  command->add_flag("--along-axis", options.along_axis, "its gradient lies along one coordinate");
  command->add_option("--passes", options.passes, "how often it takes part");
  command->add_option("--records", options.records, "records of the table, where the settings are for one (4)");
  command->add_option("--runs", options.runs,
                      "games in each world, at least 1000; by default as many as the claimed epsilon needs");
  command->add_option("--delta", options.delta, "delta of epsilon and of its bound (0.01)");
  command->add_option("--report", options.report, "write what is claimed and what was proven as one HTML file");
  command->add_option("--chart", options.chart, "write the same as an SVG file");
  command->add_flag("--json", options.json, "print JSON");
  command->callback([&job] { job = [] { return audit(arguments); }; });
}

/// Options that several commands have under one name with one help text.
void add_operator_json(CLI::App& command, std::string& file) {
  command.add_option("--operator-json", file, "write what depends on data to this file, mode 0600: NOT PRIVATE");
}

/// The two files that show a run. They hold nothing that is the operator's.
void add_report(CLI::App& command, std::string& report, std::string& chart) {
  command.add_option("--report", report, "write what was released, its cost and the settings as one HTML file");
  command.add_option("--chart", chart, "write the path of the main coefficient as an SVG file");
}

/// The file for settings that were measured. Running it again measures nothing, but its run spends anew.
void add_write_config(CLI::App& command, std::string& file) {
  command.add_option("--write-config", file,
                     "a new file for the settings with what was measured for \"private\": running it spends again");
}

// For example: nustream replay orders.toml --resume. Options that only make sense together name each other by needs()
// and excludes(), so that the parser refuses the rest before anything is read.
void add_replay(CLI::App& app, Job& job) {
  static ReplayArguments arguments;
  folder::Options& options = arguments.options;
  CLI::App* command = app.add_subcommand("replay", "a recorded stream becomes a private model");
  add_config_arguments(*command, arguments.config);
  command->add_option("FILE", options.files, "recorded streams in place of stream.input; - is standard input");
  auto* resume = command->add_flag("--resume", arguments.resume, "go on from the committed state");
  command->add_flag("--new-epoch", arguments.new_epoch, "begin a new noise epoch behind the committed state")
      ->excludes(resume);
  command
      ->add_flag("--from-start", options.from_start,
                 "with --new-epoch: begin at descent.start, not where the last release is")
      ->needs("--new-epoch");
  command->add_option("--lane", options.lane, "number of this lane (stream.lane)");
  command->add_option("--from", options.from,
                      "first record: its ordinal (in a recorded segment its offset), or an ISO 8601 time");
  command->add_option("--to", options.to, "stop before this record: ordinal, offset or time");
  command->add_option("--passes", options.passes, "read the whole input this often (k); needs files, not a pipe")
      ->check(positive());
  // A replay at the recorded pace shows what a live stream would have shown, and when.
  command->add_option("--speed", arguments.speed, "max, or a multiple of the recorded pace such as 1x or 60x");
  command->add_option("--insecure-seed", options.insecure_seed,
                      "noise that anybody can compute, for tests: every output says private: false");
  command
      ->add_option("--min-usable", options.min_usable,
                   "do not begin (66) where a smaller share of the first records can be used; that tells of them")
      ->check(share())
      ->excludes(resume);
  add_write_config(*command, arguments.write_config);
  command->add_flag("--json", options.json, "print the final table as JSON, without what is the operator's");
  add_operator_json(*command, options.operator_json);
  add_report(*command, options.report, options.chart);
  command->add_flag("--serve", options.serve,
                    "show the run on the listeners of [serve], as attach does; stays up until it is interrupted");
  command->add_flag("--quiet", options.quiet, "print no results: errors, warnings and what is the operator's");
  command->callback([&job] { job = [] { return replay(arguments); }; });
}

// For example: nustream estimate table.toml table.csv --report table.html
void add_estimate(CLI::App& app, Job& job) {
  static EstimateArguments arguments;
  estimate::Options& options = arguments.options;
  CLI::App* command = app.add_subcommand("estimate", "a whole table becomes a private estimate with intervals");
  add_config_arguments(*command, arguments.config);
  command->add_option("FILE", arguments.files, "tables in place of stream.input; - is standard input");
  auto* resume = command->add_flag("--resume", arguments.resume, "go on from the committed state");
  command->add_flag("--new-epoch", arguments.new_epoch, "estimate again: the spend adds up in the ledger")
      ->excludes(resume);
  command->add_option("--insecure-seed", options.insecure_seed,
                      "noise that anybody can compute, for tests: every output says private: false");
  auto* compare = command->add_flag("--compare-nonprivate", options.compare_nonprivate,
                                    "print least squares of the table beside the estimate: NOT PRIVATE");
  auto* x_bound = command
                      ->add_option("--adassp-x-bound", options.compare_x_bound,
                                   "compare with AdaSSP too: public bound on the norm of a row")
                      ->check(positive())
                      ->needs(compare);
  // AdaSSP needs both bounds, so that each of the two options needs the other.
  auto* y_bound = command->add_option("--adassp-y-bound", options.compare_y_bound, "and on the target")
                      ->check(positive())
                      ->needs(compare);
  x_bound->needs(y_bound);
  y_bound->needs(x_bound);
  command
      ->add_option("--min-usable", options.min_usable,
                   "do not begin (66) where a smaller share of the records can be used; that tells of them")
      ->check(share())
      ->excludes(resume);
  add_write_config(*command, arguments.write_config);
  command->add_flag("--json", options.json, "print the result as JSON, without what is the operator's");
  add_operator_json(*command, options.operator_json);
  add_report(*command, options.report, options.chart);
  command->add_flag("--quiet", options.quiet, "print no results: errors, warnings and what is the operator's");
  command->callback([&job] { job = [] { return estimate(arguments); }; });
}

// Two commands for two sides, which share only the file of settings. For example:
//
//     nustream local randomize survey.toml my-record.csv > report.jsonl
//     nustream local collect survey.toml report.jsonl
void add_local(CLI::App& app, Job& job) {
  static LocalRandomizeArguments randomizing;
  static LocalCollectArguments collecting;
  CLI::App* command = app.add_subcommand("local", "local privacy: noisy reports from users, a model from reports");
  command->require_subcommand(1);
  CLI::App* randomize = command->add_subcommand("randomize", "the user's side: a record becomes one noisy report");
  randomize->alias("randomise");
  add_config_arguments(*randomize, randomizing.config);
  randomize->add_option("FILE", randomizing.file, "records in place of stream.input; - is standard input");
  randomize->add_option("-o,--output", randomizing.options.output, "where to; else standard output");
  randomize->add_flag("--quiet", randomizing.options.quiet, "print nothing but reports and errors");
  randomize->callback([&job] { job = [] { return local_randomize(randomizing); }; });
  CLI::App* collect =
      command->add_subcommand("collect", "the server's side: reports become running sums and a model");
  add_config_arguments(*collect, collecting.config);
  collect->add_option("FILE", collecting.options.files,
                      "reports; - is standard input, also where there is neither FILE nor [kafka]");
  add_kafka_arguments(*collect, collecting.kafka);
  collect->add_flag("--from-start", collecting.options.from_start,
                    "read the topic again; no report is counted twice");
  collect->add_flag("--show", collecting.options.show, "count nothing: the model of what is committed");
  collect->add_flag("--json", collecting.options.json, "print JSON");
  collect->callback([&job] { job = [] { return local_collect(collecting); }; });
}

/// Writes the one line of a failure, with the exit code as a field of it, and returns the code.
int fail(Exit code, const std::string& line) {
  log::write({log::Level::error, "failed", line, {{"exit_code", static_cast<std::uint64_t>(code)}}});
  return static_cast<int>(code);
}

/// Writes what is still in the buffer of standard output: a full disk or a closed pipe is noticed here at the latest.
int with_output(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  const int failed = fail(Exit::io, "standard output could not be written; what is committed stays so");
  return code == static_cast<int>(Exit::done) ? failed : code;
}

/// A message for a first argument that is no command. The parser's own message would not name it.
std::optional<std::string> unknown_command(const CLI::App& app, int argc, char** argv) {
  // Options such as --help are the parser's.
  if (argc < 2 || argv[1][0] == '-') return std::nullopt;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return std::nullopt;
  return fmt::format("there is no command '{}'{}; see nustream --help", argv[1],
                     config::did_you_mean(argv[1], names));
}

/// The parser's message, and for an unknown option the one that was probably meant.
std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  std::string command = "nustream";
  // Follows the subcommands as far as they were parsed, so that the message names the help that is of use.
  for (; !app->get_subcommands().empty(); app = app->get_subcommands().front()) {
    command += " " + app->get_subcommands().front()->get_name();
  }
  // The parser's own words for a missing command are replaced by plainer ones.
  constexpr std::string_view none = "A subcommand is required";
  std::string text = error.what() == none ? "name a command" : error.what();
  const bool is_unknown = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (const std::size_t option = text.rfind("--"); is_unknown && option != std::string::npos) {
    std::vector<std::string> names;
    for (const CLI::Option* known : app->get_options()) names.push_back(known->get_name());
    text += config::did_you_mean(text.substr(option), names);
  }
  const auto offered = app->get_subcommands([](const CLI::App*) { return true; });
  if (!offered.empty() && command != "nustream") {
    for (const CLI::App* one : offered) text += (one == offered.front() ? ": " : " or ") + one->get_name();
  }
  return fmt::format("nustream: error: {}; see {} --help\n", text, command);
}

/// Opens /dev/null in the place of standard files that the caller has closed (`2>&-`). Otherwise the first file that
/// is opened, such as a folder's releases, would take the number of standard error, and what is meant for the
/// operator alone would be written into it.
void occupy_standard_files() {
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file) {
    if (::fcntl(file, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is taken, which is this one.
    if (::open("/dev/null", O_RDWR) != file) ::_exit(static_cast<int>(Exit::internal));
  }
}

/// Runs the job and turns what it throws into an exit code. Failures bring their own; a wrong parameter is a fault of
/// the settings, and everything else is internal.
int run_job(const Job& job) {
  try {
    return static_cast<int>(job());
  } catch (const Failure& failure) {
    return fail(failure.code(), failure.what());
  } catch (const InvalidParameter& error) {
    return fail(Exit::configuration, error.what());
  } catch (const Unsupported& error) {
    return fail(Exit::configuration, error.what());
  } catch (const std::bad_alloc&) {
    return fail(Exit::internal, "out of memory; give the process more, or lower state.commit_records");
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) != 0) return static_cast<int>(Exit::done);  // with_output() reports it
    return fail(Exit::internal, std::string(error.what()) + "; please report this with the command line");
  } catch (const std::exception& error) {
    return fail(Exit::internal, std::string(error.what()) + "; please report this with the command line");
  }
}

}  // namespace

int run(int argc, char** argv) {
  occupy_standard_files();
  CLI::App app{"nustream: streaming estimates with differential privacy under continual release", "nustream"};
  app.set_version_flag("--version", std::string("nustream ") + version);
  app.require_subcommand(1);
  // One line in the form of all other failures, without the whole help.
  app.failure_message(usage_error);
  Job job;
  // The help lists the commands in this order.
  add_plan(app, job);
  add_audit(app, job);
  add_replay(app, job);
  add_estimate(app, job);
  add_fit(app, job);
  add_solve(app, job);
  add_verify(app, job);
  add_export(app, job);
  add_attach(app, job);
  add_record(app, job);
  add_topics(app, job);
  add_check(app, job);
  add_inspect(app, job);
  add_local(app, job);
  add_users(app, job);
  add_key(app, job);
  add_account(app, job);
  if (const auto error = unknown_command(app, argc, argv)) return fail(Exit::usage, *error);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    // --help and --version come here.
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return static_cast<int>(Exit::usage);
  }
  return with_output(run_job(job));
}

}  // namespace nustream::cli
