// The sentences of a run's end. All but those marked as the operator's are about public counts: steps, the ledger and
// the settings.
#include "replay/endings.h"

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "check/times.h"
#include "console/operator_counts.h"
#include "console/path_printer.h"

namespace nustream::replay {
namespace {

/// What a run has cost that takes no step any more: "no step was taken, nothing is spent", say. `steps` are those of
/// the epoch that are committed.
std::string paid_for(const folder::Session& session, StepCount steps) {
  const double spent = session.ledger_total(steps).value();
  if (steps.value() == 0) {
    return spent == 0 ? "no step was taken, nothing is spent"
                      : fmt::format("no step was taken; rho {:.6g} was spent before it, and is in the ledger", spent);
  }
  return fmt::format("{} step{} taken and paid for: rho {:.6g} is in the ledger",
                     console::with_separators(steps.value()), steps.value() == 1 ? " is" : "s are", spent);
}

/// Whether an end of the window is a time and no ordinal.
bool is_time(const std::optional<std::string>& end) {
  return end && end->find_first_not_of("0123456789") != std::string::npos;
}

}  // namespace

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
    const std::string released =
        session.lane().steps().value() == 0 ? "no step was taken"
        : steps_released > 0
            ? "what was released stays"
            : fmt::format("no release of this epoch was made: the first one comes after release.every = {} steps",
                          config.descent.release_every);
    fmt::print(stderr, "nustream: stopped: {}; {}\n", session.limit_reached(), released);
  }
}

bool reads_pipe(const config::Config& config) {
  for (const std::string& file : config.input.files) {
    std::error_code unknown;
    if (file == "-" || std::filesystem::is_fifo(file, unknown)) return true;
  }
  return false;
}

void fail_after_steps(const config::Config& config, const folder::Options& options, const folder::Session& session,
                      StepCount steps, const Failure& failure) {
  // A first look that refuses its records says already that nothing was begun.
  if (failure.code() == Exit::unusable) throw failure;
  std::string what = fmt::format("{}; {}", failure.what(), paid_for(session, steps));
  if (session.is_committed() || options.goes_on_behind_measuring) {
    // A pipe is read from its first record again, up to the one where the run goes on.
    what += fmt::format("; once that is mended{}, go on with: {}",
                        reads_pipe(config) ? ", and the pipe gives all of its records again" : "",
                        folder::command_to_go_on(config, options, "--resume"));
  }
  throw Failure(failure.code(), what);
}

void say_no_step(const config::Config& config, const folder::Session& session, StepCount steps) {
  fmt::print(stderr, "nustream: too few records were left for a step, which takes {} ({}): {}\n",
             config.descent.minibatch, config.moments ? "release.every" : "descent.minibatch",
             paid_for(session, steps));
}

void say_nothing_was_read(const config::Config& config, const folder::Options& options, const folder::Window& window,
                          Position position) {
  const bool from_the_beginning =
      options.start == folder::Start::fresh;  // other runs begin behind what was read, unless --from is given
  if (options.from ? options.start != folder::Start::resume : from_the_beginning && options.to) {
    fmt::print(stderr, "nustream: no record of the input lies from {} to {}: no step was taken\n",
               options.from.value_or("its beginning"), options.to.value_or("its end"));
    if (is_time(options.from) || is_time(options.to)) {
      console::say_for_operator(check::why_no_time_matches(config.input));
    }
    return;
  }
  const bool one_pass = window.passes == 1;  // with several passes, positions count on and are no ordinals
  fmt::print(stderr,
             "nustream: no new records behind record {}{}: no step was taken; to have the input read again from its "
             "beginning, which its records are charged for: {}\n",
             console::with_separators(one_pass ? position.value() : window.touched(position.value())),
             one_pass && options.to ? " before " + *options.to : std::string(),
             folder::command_to_go_on(
                 config, options, options.from_start ? "--new-epoch --from-start --from 0" : "--new-epoch --from 0"));
}

}  // namespace nustream::replay
