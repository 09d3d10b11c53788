// Settings of files of lines with two columns.
#pragma once

#include "config/input.h"

namespace nustream::tests {

inline config::InputSettings csv(bool header = true) {
  config::InputSettings settings;
  settings.header = header;
  if (!header) settings.columns = {"a", "b"};
  return settings;
}

inline config::InputSettings jsonl() {
  config::InputSettings settings;
  settings.format = config::Format::json_lines;
  return settings;
}

}  // namespace nustream::tests
