// Writes what a command warns about into its JSON.
#pragma once

#include <string>
#include <vector>

#include "publish/json_text.h"

namespace nustream::cli {

/// Appends ,"warnings":[…] with the sentences of `advice` that are not empty.
inline void append_warnings(const std::vector<std::string>& advice, std::string& out) {
  out += ",\"warnings\":[";
  bool first = true;
  for (const std::string& each : advice) {
    if (each.empty()) continue;
    if (!first) out += ',';
    publish::append_string(each, out);
    first = false;
  }
  out += ']';
}

}  // namespace nustream::cli
