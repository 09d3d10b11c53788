// What the table at the end of a replay says, from the run that it is about.
#pragma once

#include "config/config.h"
#include "config/mechanism.h"
#include "replay/engine.h"
#include "replay/path_printer.h"
#include "replay/session.h"
#include "replay/summary.h"

namespace nustream::replay {

/// Of a session that is finished: nothing of it is in flight. Its last release is the printer's or, where nothing was
/// printed, the last one in the folder that is of its epoch.
[[nodiscard]] Summary summarise(const config::Config& config, const config::Mechanism& mechanism, Session& session,
                                const PathPrinter& printer, const Engine& engine, Ending ending);

}  // namespace nustream::replay
