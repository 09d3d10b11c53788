#include "replay/replay.h"

#include <csignal>
#include <filesystem>

#include <fmt/format.h>

#include "config/mechanism.h"
#include "engine/release_encoder.h"
#include "nustream/privacy/epsilon.h"
#include "publish/release_json.h"
#include "replay/engine.h"
#include "replay/input.h"
#include "replay/path_printer.h"
#include "replay/session.h"
#include "replay/signals.h"
#include "replay/summary.h"
#include "secrets/harden.h"

namespace nustream::replay {
namespace {

std::string path_in(const config::Config& config, const char* name) {
  return (std::filesystem::path(config.state.directory) / name).string();
}

Summary summarise(const config::Config& config, const config::Mechanism& mechanism, Session& session,
                  const PathPrinter& printer, const Engine& engine, Ending ending) {
  const StepCount steps = session.lane().steps();
  const Rho spent = mechanism.spend.after(steps);
  Summary summary;
  summary.stream = config.stream;
  summary.epoch = session.epoch().value();
  summary.steps = steps.value();
  summary.rho = spent.value();
  summary.rho_limit = mechanism.spend.limit().value();
  summary.ledger_rho = session.ledger_total(steps).value();
  summary.epsilon = privacy::epsilon(session.ledger_total(steps), config.privacy.delta).value();
  summary.delta = config.privacy.delta.value();
  summary.conversion = privacy::name(privacy::Conversion::gaussian);
  summary.is_private = session.is_private();
  summary.average_from = config.descent.averaging.from;
  summary.release = printer.last();
  summary.ending = ending;
  summary.counts = engine.counts();
  summary.places = {path_in(config, journal::folder_files::releases), path_in(config, journal::folder_files::state),
                    path_in(config, journal::folder_files::ledger), session.key_file()};
  return summary;
}

Exit exit_of(Ending ending) {
  switch (ending) {
    case Ending::interrupted:
      return Exit::interrupted;
    case Ending::exhausted:
      return Exit::exhausted;
    default:
      return Exit::done;
  }
}

void say_how_it_ended(const config::Config& config, const Options& options, Ending ending) {
  if (ending == Ending::interrupted) {
    fmt::print(stderr, "nustream: interrupted; everything so far is committed; go on with: {}\n",
               replay_command(config, options, "--resume"));
  } else if (ending == Ending::exhausted) {
    fmt::print(stderr,
               "nustream: stopped before the horizon or the budget would be crossed; the last release stays\n");
  }
}

bool reads_pipe(const config::Config& config) {
  for (const std::string& file : config.input.files) {
    if (file == "-" || std::filesystem::is_fifo(file)) return true;
  }
  return false;
}

}  // namespace

std::string replay_command(const config::Config& config, const Options& options, const std::string& option) {
  std::string command = fmt::format("nustream {} {}", options.command, config.file);
  for (const std::string& file : options.files) command += " " + file;
  for (const std::string& text : config.overrides) command += " --set '" + text + "'";
  if (options.lane) command += fmt::format(" --lane {}", *options.lane);
  if (options.insecure_seed) command += fmt::format(" --insecure-seed {}", *options.insecure_seed);
  if (options.passes > 1) {
    command += fmt::format(" --passes {}", options.passes);
    if (options.from) command += " --from " + *options.from;
  }
  if (options.to) command += " --to " + *options.to;
  return command + " " + option;
}

Exit run(config::Config config, const Options& options) {
  secrets::harden_process();
  const std::atomic<int>& stop = watch_signals();
  if (options.speed && (config.input.time_column.empty() || !config.input.times_public)) {
    throw Failure(Exit::configuration, config.file +
                                           ": --speed follows the records' own times: set stream.time to "
                                           "their column and declare them public with stream.times_public = true");
  }
  if (options.start == Start::resume && options.from && options.passes == 1) {
    throw Failure(Exit::usage,
                  "--from: a resumed run goes on where its state is; --from belongs to a new run or epoch");
  }
  const Window window = resolve_window(config, options);
  const config::Mechanism mechanism = make_mechanism(config, participation(window, config.descent.minibatch));

  const bool lines = !options.quiet && !options.json;
  PathPrinter printer(lines ? stdout : nullptr);
  // The input is opened first: a missing file is told before a state folder is made.
  const auto probe = options.start == Start::fresh ? open_window(config, window, window.first) : nullptr;
  Session session(config, mechanism, window, options, printer);
  const auto reader =
      options.start == Start::fresh ? nullptr : open_window(config, window, session.lane().position().value());
  decode::Reader& input = probe ? *probe : *reader;
  if (lines && reads_pipe(config)) {
    fmt::print(stderr,
               "nustream: a pipe cannot be read again: what is read but not committed when this ends is lost\n");
  }

  publish::ReleaseEncoder encoder = engine::release_encoder(
      config, mechanism,
      {config.stream, config.lane, session.epoch(), config.privacy.delta, session.digest(), session.is_private()});
  engine::Stepper stepper(session.lane(), session.feed(), encoder, config.descent.minibatch, session.step_limit(),
                          session.released_at());
  Engine engine(stepper, input, config.descent,
                Cadence{config.state.commit_records, std::chrono::duration<double>(config.state.commit_seconds),
                        config.state.rejects},
                Pacer(options.speed));
  std::exception_ptr failure;
  Ending ending = Ending::input;
  try {
    ending = engine.run(
        stop,
        [&](BatchResult result) {
          session.commit(std::move(result), engine.counts().rejected, stepper.released_at());
        },
        [&](std::uint64_t records) {
          printer.progress({records, input.bytes_read(), input.bytes_total()});
        });
  } catch (const Failure&) {
    failure = std::current_exception();
  }
  session.finish();
  printer.finish();
  if (failure) std::rethrow_exception(failure);
  say_how_it_ended(config, options, ending);

  const Summary summary = summarise(config, mechanism, session, printer, engine, ending);
  if (options.json) fmt::print("{}\n", to_json(summary));
  if (lines) print_table(summary, stdout);
  return exit_of(ending);
}

}  // namespace nustream::replay
