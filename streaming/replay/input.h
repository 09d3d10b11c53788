// The window of a replay's input: how the command line names it, how often a record in it takes part, and how it is
// read.
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

/// Resolves --from, --to and --passes. It counts records, or looks for a time, where that is needed. Throws
/// Failure(usage) for text that is neither an ordinal nor a time, and where --from is behind --to;
/// Failure(configuration) for a time where times are not public.
[[nodiscard]] folder::Window resolve_window(const config::Config& config, const folder::Options& options);

/// How often a record takes part: k = the number of passes, and b = the number of steps between two passes over one
/// record (docs/notation.md). Throws Failure(configuration) where a pass is shorter than a minibatch.
[[nodiscard]] privacy::Participation participation(const folder::Window& window, std::uint64_t minibatch);

/// Opens a reader of the rest of the window from `position` on, pass after pass. A refusal by `other_kinds` counts
/// for the first pass that is read. From the second pass on records have been used, and nothing is refused.
[[nodiscard]] std::unique_ptr<decode::Reader> open_window(
    const config::Config& config, const folder::Window& window, std::uint64_t position,
    decode::OtherKinds other_kinds = decode::OtherKinds::refused);

}  // namespace nustream::replay
