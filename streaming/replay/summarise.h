// Gathers from a run what the table at its end says.
#pragma once

#include "config/config.h"
#include "config/mechanism.h"
#include "console/path_printer.h"
#include "console/summary.h"
#include "folder/session.h"
#include "replay/record_loop.h"

namespace nustream::replay {

/// Where a finished session lists records that could not be used.
[[nodiscard]] console::RejectsList rejects_of(const folder::Session& session);

/// The counts of this run's records and gradients so far, for the operator.
[[nodiscard]] console::OperatorCounts counted(const config::Config& config, const RecordLoop& loop,
                                              folder::Session& session);

/// The summary of a finished session. Nothing of the session may be in flight any more. Its last release is the one
/// that the printer printed last, or, where nothing was printed, the last release in the folder if that is of the
/// session's epoch.
[[nodiscard]] console::Summary summarise(const config::Config& config, const config::Mechanism& mechanism,
                                         folder::Session& session, const console::PathPrinter& printer,
                                         const RecordLoop& loop, Ending ending);

}  // namespace nustream::replay
