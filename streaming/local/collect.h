// `nustream local collect`: adds reports to running sums, and solves a model from the sums.
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

}  // namespace nustream::local
