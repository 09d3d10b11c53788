// What a run tells on standard error when it ends: how it ended, what was spent, and how to go on.
#pragma once

#include <cstdint>

#include "config/config.h"
#include "error.h"
#include "folder/options.h"
#include "folder/session.h"
#include "folder/window.h"
#include "nustream/base/units.h"
#include "replay/record_loop.h"

namespace nustream::replay {

/// Whether any input can be read only once, so that what is read and not committed is lost.
[[nodiscard]] bool reads_pipe(const config::Config& config);

/// Tells how the run ended and how to go on, unless its input simply ended. `steps_released` is the number of steps
/// at this epoch's last release; 0 for none.
void say_how_it_ended(const config::Config& config, const folder::Options& options, folder::Session& session,
                      Ending ending, std::uint64_t steps_released);

/// Throws the failure that ended the run again, with what was spent until then and how to go on. `steps` are those of
/// the epoch that are committed.
[[noreturn]] void fail_after_steps(const config::Config& config, const folder::Options& options,
                                   const folder::Session& session, StepCount steps, const Failure& failure);

/// Tells of an input that held records, but fewer than one step takes.
void say_no_step(const config::Config& config, const folder::Session& session, StepCount steps);

/// Tells about a run that found no record to step: what that means, and which command may have been meant.
void say_nothing_was_read(const config::Config& config, const folder::Options& options, const folder::Window& window,
                          Position position);

}  // namespace nustream::replay
