#include "attach/users_partition.h"

#include <algorithm>

#include "kafka/interruption.h"
#include "kafka/partition_reader.h"

namespace nustream::attach {

std::uint64_t UsersPartition::end() const {
  kafka::PartitionReader all(client_, kafka::Isolation::read_uncommitted, place_.group);
  const kafka::Deadline deadline = kafka::in(setup_.config.kafka.transaction);
  return static_cast<std::uint64_t>(all.watermarks(place_.in(place_.topics.users), deadline).high.value());
}

users::TopicLog::ReadFrom UsersPartition::reader(std::uint64_t end) const {
  return [this, end](std::uint64_t from, const users::TopicLog::Take& take) {
    const auto offset = [](std::uint64_t value) { return kafka::Offset{static_cast<std::int64_t>(value)}; };
    const std::chrono::milliseconds patience = setup_.config.kafka.transaction;
    const kafka::TopicPartition partition = place_.in(place_.topics.users);
    kafka::PartitionReader committed(client_, kafka::Isolation::read_committed, place_.group);
    const kafka::Offset low = committed.watermarks(partition, kafka::in(patience)).low;
    const kafka::Offset last = std::max(low, offset(end));
    committed.read_patiently(partition, std::clamp(offset(from), low, last), last, patience,
                             [&](const kafka::Message& message) {
                               if (cancelled_.load()) throw kafka::Cancelled();
                               if (message.record.key && message.record.value) {
                                 take(*message.record.key, *message.record.value);
                               }
                             });
  };
}

std::optional<std::string> UsersPartition::find(const std::string& key) const {
  constexpr std::uint64_t window = 1'024;  // what is written last is looked for at the end first
  std::optional<std::string> found;
  const std::uint64_t last = end();
  const auto take = [&](std::string_view of, std::string_view value) {
    if (of == key) found = std::string(value);
  };
  if (last > window) reader(last)(last - window, take);
  if (!found) reader(last)(0, take);
  return found;
}

}  // namespace nustream::attach
