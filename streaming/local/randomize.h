// `nustream local randomize`: users' records become noisy reports, each kept before it is shown.
#pragma once

#include <string>

#include "error.h"
#include "local/settings.h"

namespace nustream::local {

struct RandomizeOptions {
  std::string output;  ///< file; empty or "-": standard output
  bool quiet = false;  ///< nothing on standard error but errors
};

/// Writes one line a record, in the order of the records: the stored report of a record that has one, byte for byte,
/// else a fresh one, which is stored first. Exit::done, also after SIGTERM; Exit::interrupted after SIGINT: the same
/// command again sends what was sent and goes on. Throws Failure.
///
/// What it says on standard error (how many records were unusable or beyond the bounds) tells of the records: it is
/// for the user's eyes.
[[nodiscard]] Exit randomize(const Settings& settings, const RandomizeOptions& options);

}  // namespace nustream::local
