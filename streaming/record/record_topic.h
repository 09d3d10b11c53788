// `nustream record`: a topic into a folder of segments, one file a partition.
#pragma once

#include <string>

#include "config/config.h"
#include "error.h"

namespace nustream::recording {

struct Options {
  std::string folder;
  bool resume = false;  ///< go on with the files of the folder, whose own starts and stops then count
  bool json = false;    ///< print what was recorded as JSON
};

/// Records the partitions of kafka.topic from kafka.start to kafka.stop, each resolved once, or until SIGTERM (0) or
/// SIGINT (130); prints what was recorded. Throws Failure.
[[nodiscard]] Exit run(const config::Config& config, const Options& options);

}  // namespace nustream::recording
