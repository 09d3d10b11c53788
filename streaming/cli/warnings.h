// Writes what a command warns about into its JSON.
#pragma once

#include <string>
#include <vector>

#include "publish/json_writer.h"

namespace nustream::cli {

/// Writes "warnings":[…] with the sentences of `advice` that are not empty.
inline void append_warnings(const std::vector<std::string>& advice, publish::JsonWriter& json) {
  const auto warnings = json.array("warnings");
  for (const std::string& each : advice) {
    if (!each.empty()) json.element(each);
  }
}

}  // namespace nustream::cli
