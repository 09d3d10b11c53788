// Reads the records of a dry run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "check/data_check.h"
#include "check/tally.h"
#include "config/config.h"
#include "config/input.h"
#include "decode/seen_lines.h"
#include "nustream/record/schema.h"

namespace nustream::check {

/// For each reason of `tally`: where its first record stands and what that record holds, such as "line 5: 'NA'", and
/// what to set where the text gives a hint. Empty where the input cannot be read twice or is not a file of lines.
/// Throws Failure(io) where it cannot be read.
[[nodiscard]] std::map<std::string, std::string> examples_of(const Tally& tally, const config::InputSettings& input,
                                                             const record::Schema& schema);

/// The same text for one record, which stands at `place`, such as "line 5".
[[nodiscard]] std::string example_of(const std::string& reason, const std::string& place,
                                     const decode::SeenLine& seen, const config::InputSettings& input,
                                     const record::Schema& schema);

/// Hands the records of config.input to `check`: the first `records` of them, or all where `records` is empty.
/// Returns in words what was read. Throws Failure as the readers do; a message may show what stands in a header line.
[[nodiscard]] std::string look_at_files(const config::Config& config, std::optional<std::uint64_t> records,
                                        DataCheck& check);

/// Hands about `records` committed records of the topic to `check`, and adds to `examples` one record for each reason
/// why records cannot be used (examples_of()), by its partition and offset. The offsets are shared among the
/// partitions: a partition that has few leaves its share to the others. They are taken from kafka.start on, or the
/// last ones where that is "latest". Partitions are assigned and read: no group is joined, and nothing is committed
/// or written. Throws KafkaFailure, and Failure(configuration) where the topic does not exist.
[[nodiscard]] std::string look_at_topic(const config::Config& config, std::uint64_t records, DataCheck& check,
                                        std::map<std::string, std::string>& examples);

}  // namespace nustream::check
