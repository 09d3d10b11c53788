// kafka.start and kafka.stop as offsets, resolved against the log as it is now.
#include "kafka/place_offset.h"

#include <algorithm>
#include <variant>

namespace nustream::kafka {

std::uint64_t place_offset(const config::Place& place, PartitionReader& reader, const TopicPartition& partition,
                           Deadline deadline) {
  const Watermarks log = reader.watermarks(partition, deadline);
  const auto number = [](Offset offset) { return static_cast<std::uint64_t>(offset.value()); };
  if (std::holds_alternative<config::Earliest>(place)) return number(log.low);
  if (std::holds_alternative<config::Latest>(place)) return number(log.high);
  if (const auto* offset = std::get_if<config::AtOffset>(&place)) return std::max(offset->offset, number(log.low));
  // To a broker, negative times stand for the ends of the log. No record is older than 1970.
  const std::int64_t time = std::max<std::int64_t>(std::get<config::AtTime>(place).milliseconds, 0);
  return number(reader.offset_at(partition, time, deadline).value_or(log.high));
}

}  // namespace nustream::kafka
