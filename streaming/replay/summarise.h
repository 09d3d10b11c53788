// What the table at the end of a replay says, from the run that it is about.
#pragma once

#include "config/config.h"
#include "config/mechanism.h"
#include "console/path_printer.h"
#include "console/summary.h"
#include "folder/session.h"
#include "replay/record_loop.h"

namespace nustream::replay {

/// Of a session that is finished: where it lists unusable records.
[[nodiscard]] console::RejectsList rejects_of(const folder::Session& session);

/// What the operator is told of the records and gradients of this run so far.
[[nodiscard]] console::OperatorCounts counted(const RecordLoop& loop, folder::Session& session);

/// Of a session that is finished: nothing of it is in flight. Its last release is the printer's or, where nothing was
/// printed, the last one in the folder that is of its epoch.
[[nodiscard]] console::Summary summarise(const config::Config& config, const config::Mechanism& mechanism,
                                         folder::Session& session, const console::PathPrinter& printer,
                                         const RecordLoop& loop, Ending ending);

}  // namespace nustream::replay
