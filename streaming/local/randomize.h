// `nustream local randomize`: turns users' records into noisy reports, each stored before it is shown.
#pragma once

#include <string>

#include "error.h"
#include "local/settings.h"

namespace nustream::local {

struct RandomizeOptions {
  std::string output;  ///< file for the reports; empty or "-": standard output
  bool quiet = false;  ///< print nothing but errors on standard error
};

/// Writes one line for each record, in the order of the records. A record that has a stored report gets that one,
/// byte for byte; another gets a fresh one, which is stored first. Returns Exit::done, also after SIGTERM, and
/// Exit::interrupted after SIGINT; the same command again then sends what was sent and goes on. Throws Failure.
///
/// What it prints on standard error (how many records were unusable or beyond the bounds) depends on the records: it
/// is for the user alone.
[[nodiscard]] Exit randomize(const Settings& settings, const RandomizeOptions& options);

}  // namespace nustream::local
