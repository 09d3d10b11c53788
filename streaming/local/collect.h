// `nustream local collect`: reports become running sums, and the sums a model.
#pragma once

#include <string>
#include <vector>

#include "error.h"
#include "local/settings.h"

namespace nustream::local {

struct CollectOptions {
  std::vector<std::string> files;  ///< of reports; "-": standard input
  bool show = false;               ///< count nothing: solve what is committed, while another run may count
  bool until_end = false;          ///< of a topic: stop at the end that it has now
  bool from_start = false;         ///< of a topic: read it again; what was counted is not counted twice
  bool json = false;
};

/// Counts the reports of the files, or of the settings' topic where there are brokers and no files, or of standard
/// input; then prints the model. Exit::done, also after SIGTERM; Exit::interrupted after SIGINT: everything so far is
/// committed. Throws Failure.
[[nodiscard]] Exit collect(const Settings& settings, const CollectOptions& options);

}  // namespace nustream::local
