// The commands of local privacy: `nustream local randomize` turns users' records into noisy reports, each stored
// before it is shown, and `nustream local collect` makes a model of them.
#pragma once

#include <string>
#include <vector>

#include "error.h"
#include "local/settings.h"

namespace nustream::local {

struct CollectOptions {
  std::vector<std::string> files;  ///< files of reports; "-" is standard input
  bool show = false;               ///< count nothing: solve what is committed, while another run may count
  bool until_end = false;          ///< of a topic: stop at the end that it has at the beginning
  bool from_start = false;         ///< read a topic from its start again; no report is counted twice
  bool json = false;
};

/// Counts the reports of the files, or of the settings' topic where there are brokers and no files, or else of
/// standard input; then prints the model. Returns Exit::done, also after SIGTERM, and Exit::interrupted after SIGINT;
/// everything that was counted is then committed. Throws Failure.
[[nodiscard]] Exit collect(const Settings& settings, const CollectOptions& options);

struct RandomizeOptions {
  std::string output;  ///< file for the reports; empty or "-": standard output
  bool quiet = false;  ///< print nothing but errors on standard error
};

/// Writes one line for each record, in the order of the records. A record that has a stored report gets that one,
/// byte for byte; another gets a fresh one, which is stored first. Returns Exit::done, also after SIGTERM, and
/// Exit::interrupted after SIGINT; the same command again then sends the same reports, and goes on. Throws Failure.
///
/// What it prints on standard error (how many records were unusable or beyond the bounds) depends on the records: it
/// is for the user alone.
[[nodiscard]] Exit randomize(const Settings& settings, const RandomizeOptions& options);

}  // namespace nustream::local
