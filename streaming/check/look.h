// Where a dry run's records come from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "check/data_check.h"
#include "config/config.h"

namespace nustream::check {

/// Hands the records of config.input, the first `records` of them (all where it is empty), to `check`; says in words
/// what was read. Failure as the readers'; a message may show what stands in a header line.
[[nodiscard]] std::string look_at_files(const config::Config& config, std::optional<std::uint64_t> records,
                                        DataCheck& check);

/// The same of about `records` committed records of the topic: of each partition the same number of offsets, from
/// kafka.start on, or the last ones where that is "latest". Partitions are assigned and read: no group is joined, and
/// nothing is committed or written. KafkaFailure, and Failure(configuration) where the topic does not exist.
[[nodiscard]] std::string look_at_topic(const config::Config& config, std::uint64_t records, DataCheck& check);

}  // namespace nustream::check
