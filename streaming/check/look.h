// Reads the records of a dry run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "check/data_check.h"
#include "config/config.h"

namespace nustream::check {

/// Hands the records of config.input to `check`, the first `records` of them, or all where that is empty. Returns in
/// words what was read. Throws Failure as the readers do; a message may show what stands in a header line.
[[nodiscard]] std::string look_at_files(const config::Config& config, std::optional<std::uint64_t> records,
                                        DataCheck& check);

/// Does the same with about `records` committed records of the topic. It takes the same number of offsets of each
/// partition, from kafka.start on, or the last ones where that is "latest". Partitions are assigned and read: no
/// group is joined, and nothing is committed or written. Throws KafkaFailure, and Failure(configuration) where the
/// topic does not exist.
[[nodiscard]] std::string look_at_topic(const config::Config& config, std::uint64_t records, DataCheck& check);

}  // namespace nustream::check
