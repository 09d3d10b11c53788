#include "replay/replay.h"

#include <algorithm>
#include <csignal>
#include <filesystem>

#include <fmt/format.h>

#include "check/first_look.h"
#include "config/advice.h"
#include "config/mechanism.h"
#include "console/operator_file.h"
#include "console/path_printer.h"
#include "console/signals.h"
#include "console/warnings.h"
#include "decode/json_names.h"
#include "engine/budget_advice.h"
#include "engine/release_encoder.h"
#include "folder/session.h"
#include "replay/input.h"
#include "replay/record_loop.h"
#include "replay/serving.h"
#include "replay/stream_input.h"
#include "replay/summarise.h"
#include "report/report.h"
#include "secrets/harden.h"
#include "users/identifiers.h"

namespace nustream::replay {
namespace {

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

/// Tells on standard error how the run ended and how to go on, unless its input simply ended. `steps_released` is the
/// number of steps at this epoch's last release; 0 for none.
void say_how_it_ended(const config::Config& config, const folder::Options& options, folder::Session& session,
                      Ending ending, std::uint64_t steps_released) {
  const bool is_stopped = ending == Ending::interrupted || ending == Ending::drained;
  if (is_stopped && !session.is_committed()) {
    fmt::print(stderr, "nustream: {}; nothing was stepped: give the same command again\n",
               ending == Ending::drained ? "told to end" : "interrupted");
  } else if (is_stopped) {
    fmt::print(stderr, "nustream: {}; go on with: {}\n",
               ending == Ending::drained ? "told to end; what was stepped is committed and released"
                                         : "interrupted; everything so far is committed",
               folder::command_to_go_on(config, options, "--resume"));
  } else if (ending == Ending::exhausted) {
    fmt::print(stderr, "nustream: stopped: {}; {}\n", session.limit_reached(),
               session.lane().steps().value() == 0 ? "no step was taken"
               : steps_released > 0                ? "what was released stays"
                                                   : "of this epoch nothing is released: release.every sets the step "
                                                     "of its first release");
  }
}

void warn(const std::string& advice, const folder::Options& options) {
  if (!advice.empty() && !options.quiet) fmt::print(stderr, "nustream: warning: {}\n", advice);
}

/// Tells about a run that found no record to step: what that means, and which command may have been meant.
void say_nothing_was_read(const config::Config& config, const folder::Options& options, const folder::Window& window,
                          Position position) {
  const bool from_the_beginning =
      options.start == folder::Start::fresh;  // other runs begin behind what was read, unless --from is given
  if (options.from ? options.start != folder::Start::resume : from_the_beginning && options.to) {
    fmt::print(stderr, "nustream: no record of the input lies from {} to {}: no step was taken\n",
               options.from.value_or("its beginning"), options.to.value_or("its end"));
    return;
  }
  const bool one_pass = window.passes == 1;  // with several passes, positions count on and are no ordinals
  fmt::print(stderr,
             "nustream: no new records behind record {}{}: no step was taken; to have the input read again from its "
             "beginning, which its records are charged for: {}\n",
             console::with_separators(one_pass ? position.value() : window.touched(position.value())),
             one_pass && options.to ? " before " + *options.to : std::string(),
             folder::command_to_go_on(config, options, "--new-epoch --from 0"));
}

/// The look at the first records. It tells the operator at once where many cannot be used or nearly all are clipped.
/// Where --min-usable is given and too few can be used, it keeps a new epoch from its first step.
FirstLook first_look(const config::Config& config, const config::Mechanism& mechanism, const folder::Options& options,
                     folder::Session& session) {
  const bool is_new = session.lane().steps().value() == 0;
  const auto look = [&, is_new](const record::RowBatch& rows) {
    check::Tally first = check::tally_of(rows);
    if (is_new && options.min_usable) check::require_usable(first, *options.min_usable);
    const bool is_asked = check::is_worth_a_warning(first);
    console::say_for_operator(check::unusable_at_first(
        first, is_asked ? decode::missing_members(config.input, config.schema) : std::string()));
    if (!is_new) return;
    check::count_clips(config, mechanism, record::slice(rows, 0, rows.count()), first);
    console::say_for_operator(check::clipped_at_first(first, check::clip_of(config)));
  };
  return {options.min_usable ? check::records_judged : 1, look};
}

/// Tells how many records of the whole epoch could not be used, after a run that went on from a state. Its answer was
/// made by earlier runs too, and what those told of their records would be missing here. `steps_before` is the number
/// of steps of that state.
void say_of_epoch(const config::Config& config, const folder::Session& session, const RecordLoop& loop,
                  std::uint64_t steps_before) {
  if (session.rejected_before() == 0) return;
  const std::uint64_t records = steps_before * config.descent.minibatch + loop.counts().records;
  const std::string line = check::unusable_of_epoch(session.rejected_before() + loop.counts().rejected, records);
  console::say_for_operator(line + ": nustream check CONFIG --data shows more");
}

bool reads_pipe(const config::Config& config) {
  for (const std::string& file : config.input.files) {
    std::error_code unknown;
    if (file == "-" || std::filesystem::is_fifo(file, unknown)) return true;
  }
  return false;
}

}  // namespace

Exit run(config::Config config, const folder::Options& options, folder::AccountShare& share) {
  secrets::harden_process();
  const std::atomic<int>& stop = console::watch_signals();
  if (options.speed && (config.input.time_column.empty() || !config.input.times_public)) {
    throw Failure(Exit::configuration, config.file +
                                           ": --speed follows the records' own times: set stream.time to "
                                           "their column and declare them public with stream.times_public = true");
  }
  if (options.passes > 1 && config.users && config.users->limits->windows()) {
    throw Failure(Exit::configuration,
                  config.file +
                      ": --passes with users.period: a second pass would meet a record in a later window than "
                      "the first one did; read the input once, or leave out users.period");
  }
  if (options.start == folder::Start::resume && options.from && options.passes == 1) {
    throw Failure(Exit::usage,
                  "--from: a resumed run goes on where its state is; --from belongs to a new run or epoch");
  }
  if (options.min_usable && options.speed) {
    throw Failure(Exit::usage,
                  "--min-usable looks at the first records at once, and --speed holds them back: leave one out");
  }
  users::Identifiers identifiers(config::partitioner_of(config));
  if (config.schema.user) config.schema.user->reader = &identifiers;
  const folder::Window window = resolve_window(config, options);
  const config::Mechanism mechanism = make_mechanism(config, participation(window, config.descent.minibatch));

  if (!config.chosen.empty() && !options.quiet) fmt::print(stderr, "nustream: {}\n", config.chosen);
  warn(config::overshoot(config), options);
  warn(config::dotted_member(config), options);
  warn(config::too_few_batches(config), options);
  const bool lines = !options.quiet && !options.json;
  console::OperatorFile operators(options.operator_json);
  console::OperatorFile report(options.report, journal::Audience::everyone);
  console::OperatorFile chart(options.chart, journal::Audience::everyone);
  console::PathPrinter printer(lines ? stdout : nullptr);
  StreamInput stream(config, window, stop);
  // The input is opened first, so that a missing file is reported before a state folder is made.
  if (options.start == folder::Start::fresh) stream.open(window.first);
  std::optional<Serving> serving;
  const auto published = [&](std::string_view released) {
    printer.published(released);
    if (serving) serving->published(released);
  };
  // The session decides whether the run may begin at all. The account is charged before the first step.
  folder::Session session(config, mechanism, window, options, published, stream);
  share.begin(session.ledger_total(session.lane().steps()));
  if (options.serve) serving.emplace(config, mechanism, session);
  if (const users::UserKey* key = session.user_key()) identifiers.use(*key);
  console::PromiseWarnings promise;
  promise.tell(session.warnings());
  if (!session.begun().empty() && !options.quiet) fmt::print(stderr, "nustream: {}\n", session.begun());
  if (options.start != folder::Start::resume) {
    const std::string advice = engine::short_of_budget(mechanism, session.step_limit());
    const bool before_a_release = session.step_limit() < StepCount{config.descent.release_every};
    warn(advice.empty() || !before_a_release ? advice : advice + "; it ends before the first release (release.every)",
         options);
  }
  stream.open(session.lane().position().value());
  decode::Reader& input = stream.reader();
  if (lines && reads_pipe(config)) {
    fmt::print(stderr,
               "nustream: a pipe cannot be read again: what is read but not committed when this ends is lost\n");
  }

  publish::ReleaseEncoder encoder = engine::release_encoder(
      config, mechanism, {config.lane, session.epoch(), session.digest(), session.is_private()},
      session.ledger_total());
  engine::Stepper stepper(session.lane(), session.feed(), encoder, config.descent.minibatch, session.step_limit(),
                          session.released_at());
  RecordLoop loop(stepper, input, config.descent,
                  Cadence{config.state.commit_records, std::chrono::duration<double>(config.state.commit_seconds),
                          config.state.rejects},
                  Pacer(options.speed), first_look(config, mechanism, options, session));
  const std::uint64_t steps_before = session.lane().steps().value();
  std::optional<std::uint64_t> records_total;
  if (window.end) {
    const std::uint64_t all = window.first + (*window.end - window.first) * window.passes;
    const std::uint64_t at = session.lane().position().value();
    records_total = all > at ? all - at : 0;
  }
  std::exception_ptr failure;
  Ending ending = Ending::input;
  try {
    ending = loop.run(
        stop,
        [&](folder::BatchResult result) {
          session.commit(std::move(result), loop.counts().rejected, stepper.released_at());
          promise.tell(session.witness_warning());
          if (serving) serving->counted(loop.counts());
        },
        [&](std::uint64_t records) {
          printer.progress({records, input.bytes_read(), input.bytes_total(), records_total});
        });
  } catch (const Failure&) {
    failure = std::current_exception();
  }
  // Also after a failure the last batch is finished, the account settled and the counts told; then the failure is
  // thrown.
  session.finish();
  share.settle(session.ledger_total(session.lane().steps()));
  printer.finish();
  warn(publish::large_delta(config.privacy.deltas(), session.lane().position().value()), options);
  promise.tell(session.warnings());
  console::warn_of_lost(rejects_of(session));
  console::print_for_operator(counted(loop, session), rejects_of(session));
  if (options.start == folder::Start::resume) say_of_epoch(config, session, loop, steps_before);
  if (failure) std::rethrow_exception(failure);
  say_how_it_ended(config, options, session, ending, stepper.released_at());

  if (ending == Ending::input && loop.counts().records == 0 && loop.counts().left_over == 0) {
    if (options.start == folder::Start::fresh && !options.from && !options.to) throw decode::no_records(config.input);
    say_nothing_was_read(config, options, window, session.lane().position());
  }

  const console::Summary summary = summarise(config, mechanism, session, printer, loop, ending);
  operators.write(console::operator_json(summary.counts, summary.rejects) + '}');
  const report::Run again{report::again(config, options)};
  if (!options.report.empty()) report.write(report::page(config, mechanism, again));
  if (!options.chart.empty()) chart.write(report::chart_file(config, mechanism, again));
  if (options.json) fmt::print("{}\n", console::to_json(summary));
  if (lines) console::print_table(summary, stdout);
  if (serving) serving->stay_until(stop);
  return exit_of(ending);
}

}  // namespace nustream::replay
