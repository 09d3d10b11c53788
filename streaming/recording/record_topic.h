// `nustream record`: records a topic into a folder of segments, one file for each partition.
#pragma once

#include <string>

#include "config/config.h"
#include "error.h"

namespace nustream::recording {

struct Options {
  std::string folder;
  bool resume = false;  ///< go on with the folder's files; their own starts and stops count then
  bool json = false;    ///< print what was recorded as JSON
};

/// Records the partitions of kafka.topic from kafka.start to kafka.stop, each of which is resolved once, and prints
/// what was recorded. SIGTERM ends it early with exit code 0, SIGINT with 130. Throws Failure.
[[nodiscard]] Exit run(const config::Config& config, const Options& options);

}  // namespace nustream::recording
