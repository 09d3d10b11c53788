// The command, in the order in which a reader can follow a run: what is checked and said before, the class Run, which
// owns a run's parts, and run(), which puts them together. Records are stepped in record_loop.cpp, and committed in
// folder/session.cpp. What is said of a run's end is in endings.cpp.
#include "replay/replay.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "check/constant_columns.h"
#include "check/first_look.h"
#include "check/long_records.h"
#include "check/times.h"
#include "config/advice.h"
#include "config/mechanism.h"
#include "console/path_printer.h"
#include "console/signals.h"
#include "console/warnings.h"
#include "decode/one_line_files.h"
#include "engine/budget_advice.h"
#include "engine/release_encoder.h"
#include "folder/session.h"
#include "replay/endings.h"
#include "replay/input.h"
#include "replay/record_loop.h"
#include "replay/serving.h"
#include "replay/stream_input.h"
#include "replay/summarise.h"
#include "report/files.h"
#include "report/report.h"
#include "secrets/locked_memory.h"
#include "users/identifiers.h"

namespace nustream::replay {
namespace {

/// Only an interrupt and a limit have an exit code of their own. A run that SIGTERM ended has done what it was told.
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

/// Warns on standard error, unless --quiet was given.
void warn(const std::string& advice, const folder::Options& options) {
  if (!advice.empty() && !options.quiet) fmt::print(stderr, "nustream: warning: {}\n", advice);
}

/// The look at the first records. It tells the operator at once where many cannot be used, nearly all are clipped, or
/// a column is the same in all of them. Where --min-usable is given and too few can be used, it keeps a new epoch
/// from its first step.
FirstLook first_look(const config::Config& config, const config::Mechanism& mechanism, const folder::Options& options,
                     folder::Session& session) {
  // Only a run that begins an epoch is judged by its first records: a resumed one has spent already.
  const bool is_new = session.lane().steps().value() == 0;
  // `&` captures references that outlive the look: the loop calls it within go().
  const auto look = [&, is_new](const record::RowBatch& rows) {
    check::Tally first = check::tally_of(rows);
    if (is_new && options.min_usable) check::require_usable(first, *options.min_usable, config.input.look);
    console::say_for_operator(check::unusable_at_first(first, config.input, config.schema));
    if (!is_new) return;
    const check::ClipCount clips =
        check::count_clips(config, mechanism, record::slice(rows, 0, rows.count()), first.records - first.rejected);
    first.gradients = clips.gradients;
    first.clipped = clips.clipped;
    console::say_for_operator(check::clipped_at_first(first, check::clip_of(config), config.input.look));
    check::ConstantColumns columns(config.schema);
    columns.take(rows);
    console::say_for_operator(check::odd_times(config.input, config.schema));
    console::say_for_operator(columns.in_words(check::ConstantColumns::Of::first_records, config.input.look));
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
  console::say_for_operator(line + ": " + config.input.look + " shows more");
}

/// Options that contradict the settings, or one another.
void require_allowed(const config::Config& config, const folder::Options& options) {
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
}

/// Tells, before anything is spent, what these settings will lead to.
void warn_of_settings(const config::Config& config, const folder::Options& options) {
  if (!config.chosen.empty() && !options.quiet) fmt::print(stderr, "nustream: {}\n", config.chosen);
  warn(config::overshoot(config), options);
  warn(config::unit_is_the_record(config), options);
  warn(config::dotted_member(config), options);
  warn(config::too_few_batches(config), options);
  warn(config::restarts_in_vain(config), options);
  if (config.publishing.interval.count() > 0) {
    warn("release.every_seconds is for attach; a replay has no clock, and releases by steps alone", options);
  }
}

/// How many records a lane at `position` has still to read; nothing where the input's end is not known.
std::optional<std::uint64_t> records_left(const folder::Window& window, Position position) {
  if (!window.end) return std::nullopt;
  // Positions count on through all passes.
  const std::uint64_t all = window.first + (*window.end - window.first) * window.passes;
  return all > position.value() ? all - position.value() : 0;
}

/// What a run owns besides its settings. The files are made first, so that a path that cannot be written is reported
/// before anything is spent; the input is opened before the state folder, so that a missing file leaves no folder
/// behind.
class Run {
 public:
  Run(const config::Config& config, const config::Mechanism& mechanism, const folder::Window& window,
      const folder::Options& options, const std::atomic<int>& stop)
      : config_(config),
        mechanism_(mechanism),
        window_(window),
        options_(options),
        stop_(stop),
        lines_(!options.quiet && !options.json),
        files_(options.operator_json, options.report, options.chart),
        printer_(lines_ ? stdout : nullptr),
        stream_(config, window, stop) {
    // A resume or a new epoch learns from the state where to read on, and opens its input later.
    if (options.start == folder::Start::fresh) stream_.open(window.first);
    const auto published = [this](std::string_view released) {
      printer_.published(released);
      if (serving_) serving_->published(released);
    };
    // The session decides whether the run may begin at all. The account is charged before the first step.
    session_.emplace(config, mechanism, window, options, published, stream_);
  }

  /// Everything that is said and claimed before the first record is stepped.
  void begin(folder::AccountShare& share, users::Identifiers& identifiers) {
    // The account first: where it knows that more was spent, the folder is an older copy, and the run ends before its
    // pages and its first step.
    share.begin(session_->ledger_total(session_->lane().steps()));
    session_->name_limit(share.limit());
    if (options_.serve) serving_.emplace(config_, mechanism_, *session_);
    // Identifiers are hashed under the key of the folder's users, so that the decoder needs it before the first
    // record.
    if (const users::UserKey* key = session_->user_key()) identifiers.use(*key);
    promise_.tell(session_->warnings());
    if (!session_->begun().empty() && !options_.quiet) fmt::print(stderr, "nustream: {}\n", session_->begun());
    if (options_.start != folder::Start::resume) warn_of_budget();
    // At the lane's position, which is known only now.
    stream_.open(session_->lane().position().value());
    if (lines_ && reads_pipe(config_)) {
      fmt::print(stderr,
                 "nustream: a pipe cannot be read again: what is read but not committed when this ends is lost\n");
    }
  }

  /// Steps every record, and says how that ended.
  Exit go(folder::AccountShare& share) {
    publish::ReleaseEncoder encoder = engine::release_encoder(
        config_, mechanism_, {config_.lane, session_->epoch(), session_->digest(), session_->is_private()},
        // The total over all epochs stands in each release. The encoder has a copy of the ledger of this moment.
        session_->ledger_total());
    engine::Stepper stepper(session_->lane(), session_->feed(), encoder, config_.descent.minibatch,
                            session_->step_limit(), session_->released_at());
    const std::chrono::duration<double> commit_time(config_.state.commit_seconds);
    RecordLoop loop(stepper, stream_.reader(), config_.descent,
                    Cadence{config_.state.commit_records, commit_time, config_.state.rejects,
                            session_->step_limit() == mechanism_.horizon()},
                    Pacer(options_.speed), first_look(config_, mechanism_, options_, *session_));
    committed_ = session_->lane().steps();
    const std::uint64_t steps_before = committed_.value();
    // The first look has told of odd times in files already, and a run that goes on told of them when it began.
    times_are_told_ = steps_before > 0 || !reads_pipe(config_);
    std::optional<Failure> failure;
    // A failure of the input still leaves whole steps behind, which are committed. So it is thrown only at the end.
    Ending ending = Ending::input;
    try {
      ending = play(loop, stepper);
    } catch (const Failure& thrown) {
      failure = thrown;  // thrown again after the run until then is settled
    }
    settle(share, loop, steps_before, failure ? folder::Session::Ended::by_failure : folder::Session::Ended::well);
    if (failure) fail_after_steps(config_, options_, *session_, committed_, *failure);
    say_how_it_ended(config_, options_, *session_, ending, stepper.released_at());
    if (ending == Ending::input && loop.counts().records == 0) {
      loop.counts().left_over == 0 ? say_nothing_came() : say_no_step(config_, *session_, committed_);
    }
    show(loop, ending);
    if (serving_) serving_->stay_until(stop_);
    return exit_of(ending);
  }

 private:
  void warn_of_budget() {
    const std::string advice =
        engine::short_of_budget(mechanism_, session_->step_limit(), session_->budget_in_words());
    const bool before_a_release = session_->step_limit() < StepCount{config_.descent.release_every};
    if (advice.empty() || !before_a_release) return warn(advice, options_);
    // What is spent so may buy nothing, which is told whatever the options say.
    console::warn(advice + "; it ends before the first release (release.every)");
  }

  /// Runs the loop, and commits each batch that it closes.
  Ending play(RecordLoop& loop, const engine::Stepper& stepper) {
    const decode::Reader& input = stream_.reader();
    const auto records_total = records_left(window_, session_->lane().position());
    return loop.run(
        stop_,
        [&](folder::BatchResult result) {
          session_->commit(std::move(result), loop.counts().rejected, stepper.released_at());
          committed_ = session_->lane().steps();
          promise_.tell(session_->witness_warning());
          if (serving_) serving_->counted(loop.counts());
        },
        [&](std::uint64_t records) {
          if (input.first_records().size() == decode::first_records_max) tell_of_times();
          printer_.progress({records, input.bytes_read(), input.bytes_total(), records_total});
        });
  }

  /// Tells once of times that are hardly meant as they are read. The records of a pipe come one by one, and none
  /// waits for it: it is told when enough of them have come, or at the end.
  void tell_of_times() {
    if (std::exchange(times_are_told_, true)) return;
    console::say_for_operator(check::odd_times(config_.input, config_.schema, stream_.reader().first_records()));
  }

  /// Waits until everything is durable, and says what the operator has to know of it. It does so after a failure too:
  /// the last batch is finished, the account settled and the counts told before the failure is thrown.
  void settle(folder::AccountShare& share, const RecordLoop& loop, std::uint64_t steps_before,
              folder::Session::Ended ended) {
    // finish() before the account is settled: until the last commit is durable, the total may be that of steps that
    // do not count.
    session_->finish(ended);
    share.settle(session_->ledger_total(session_->lane().steps()));
    printer_.finish();
    warn(publish::large_delta(config_.privacy.deltas(), session_->lane().position().value()), options_);
    promise_.tell(session_->warnings());
    console::warn_of_lost(rejects_of(*session_));
    tell_of_times();
    console::print_for_operator(counted(config_, loop, *session_), rejects_of(*session_), config_.input);
    if (loop.counts().rejected > 0)
      console::say_for_operator(decode::files_of_one_line(config_.input, config_.schema));
    if (config_.input.longest) console::say_for_operator(check::long_record(*config_.input.longest));
    if (options_.start == folder::Start::resume) say_of_epoch(config_, *session_, loop, steps_before);
  }

  /// Refuses an input without any record, and tells of one that held nothing new for this run.
  void say_nothing_came() {
    if (options_.start == folder::Start::fresh && !options_.from && !options_.to) {
      throw decode::no_records(config_.input);
    }
    say_nothing_was_read(config_, options_, window_, session_->lane().position());
  }

  /// The answer, in each of the forms that were asked for.
  void show(const RecordLoop& loop, Ending ending) {
    const console::Summary summary = summarise(config_, mechanism_, *session_, printer_, loop, ending);
    files_.write(console::operator_json(summary.counts, summary.rejects), config_, mechanism_,
                 {report::again(config_, options_)});
    if (options_.json) fmt::print("{}\n", console::to_json(summary));
    if (lines_) console::print_table(summary, stdout);
  }

  const config::Config& config_;
  const config::Mechanism& mechanism_;
  const folder::Window& window_;
  const folder::Options& options_;
  const std::atomic<int>& stop_;
  bool lines_;  ///< whether standard output holds a path and a table
  report::Files files_;
  console::PathPrinter printer_;
  StreamInput stream_;
  std::optional<Serving> serving_;
  std::optional<folder::Session> session_;
  console::PromiseWarnings promise_;
  bool times_are_told_ = false;
  StepCount committed_{0};  ///< the steps of the last commit, or of the state that the run goes on from
};

}  // namespace

Exit run(config::Config config, const folder::Options& options, folder::AccountShare& share) {
  // First of all, before a key is in memory: no core dump and no debugger may show it.
  secrets::harden_process();
  const std::atomic<int>& stop = console::watch_signals();
  require_allowed(config, options);
  // The decoder keeps a pointer to it from here on, and begin() gives it the key.
  users::Identifiers identifiers(config::partitioner_of(config));
  if (config.schema.user) config.schema.user->reader = &identifiers;
  if (config.input.framing_is_trusted) config.input.longest = std::make_shared<config::LongestRecord>();
  const folder::Window window = resolve_window(config, options);
  // How often a record takes part decides σ, so that the window has to be known before the mechanism is made.
  const config::Mechanism mechanism = make_mechanism(config, participation(window, config.descent.minibatch));
  warn_of_settings(config, options);
  // The account's share was taken by the caller. It is charged for the ledger's total in begin(), and settled in
  // go().
  Run one(config, mechanism, window, options, stop);
  one.begin(share, identifiers);
  return one.go(share);
}

}  // namespace nustream::replay
