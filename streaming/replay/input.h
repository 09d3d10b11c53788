// The window of a replay's input: resolved from the command line, accounted for, and read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "config/config.h"
#include "decode/reader.h"
#include "folder/options.h"
#include "folder/window.h"
#include "nustream/privacy/participation.h"

namespace nustream::replay {

/// Resolves --from, --to and --passes, counting records or looking for a time where that is needed. Failure(usage)
/// for text that is neither an ordinal nor a time.
[[nodiscard]] folder::Window resolve_window(const config::Config& config, const folder::Options& options);

/// k = passes, b = the steps between two passes of one record (math: docs/notation.md). Failure(configuration)
/// where a pass is shorter than a minibatch.
[[nodiscard]] privacy::Participation participation(const folder::Window& window, std::uint64_t minibatch);

/// A reader of the rest of the window from `position` on, pass after pass.
[[nodiscard]] std::unique_ptr<decode::Reader> open_window(const config::Config& config, const folder::Window& window,
                                                          std::uint64_t position);

}  // namespace nustream::replay
