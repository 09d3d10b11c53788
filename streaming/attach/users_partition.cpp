// Reads one lane's partition of the topic of users, committed records alone, up to an end that was read after the
// lane's older producers were fenced.
#include "attach/users_partition.h"

#include <algorithm>
#include <tuple>

#include "kafka/interruption.h"
#include "kafka/partition_reader.h"

namespace nustream::attach {

std::uint64_t UsersPartition::end() const {
  // The end is read uncommitted, so that it lies behind every record there is; those of aborted transactions are
  // passed over later.
  kafka::PartitionReader all(client_, kafka::Isolation::read_uncommitted, place_.group);
  const kafka::Deadline deadline = kafka::in(patience_);
  return static_cast<std::uint64_t>(all.watermarks(place_.in(place_.topics.users), deadline).high.value());
}

/// Gives every committed record from `from` to `end`. A record without a value is passed on as such: it deletes the
/// records before it that have its key.
void UsersPartition::read(std::uint64_t from, std::uint64_t end, const TakeAny& take) const {
  const auto offset = [](std::uint64_t value) { return kafka::Offset{static_cast<std::int64_t>(value)}; };
  const kafka::TopicPartition partition = place_.in(place_.topics.users);
  kafka::PartitionReader committed(client_, kafka::Isolation::read_committed, place_.group);
  // Compaction or retention may have moved the beginning of the partition beyond the offset that a state knows.
  const kafka::Offset low = committed.watermarks(partition, kafka::in(patience_)).low;
  const kafka::Offset last = std::max(low, offset(end));
  committed.read_patiently(partition, std::clamp(offset(from), low, last), last, patience_,
                           [&](const kafka::Message& message) {
                             if (cancelled_.load()) throw kafka::Cancelled();
                             const auto& [key, value] = std::tie(message.record.key, message.record.value);
                             if (key) take(*key, value ? std::optional<std::string_view>(*value) : std::nullopt);
                           });
}

users::TopicLog::ReadFrom UsersPartition::reader(std::uint64_t end) const {
  // A store is rebuilt from values. What was deleted is not a part of it.
  return [this, end](std::uint64_t from, const users::TopicLog::Take& take) {
    read(from, end, [&](std::string_view key, std::optional<std::string_view> value) {
      if (value) take(key, *value);
    });
  };
}

std::optional<std::string> UsersPartition::find(const std::string& key) const {
  // The keys that are looked for were mostly written last, so that the end of the partition is read first.
  constexpr std::uint64_t window = 1'024;
  std::optional<std::string> found;
  const std::uint64_t last = end();
  bool is_told = false;
  const auto take = [&](std::string_view of, std::optional<std::string_view> value) {
    if (of != key) return;
    is_told = true;
    found = value ? std::optional<std::string>(*value) : std::nullopt;
  };
  if (last > window) read(last - window, last, take);
  // Read from the beginning only where the end told nothing, neither a value nor a deletion.
  if (!is_told) read(0, last, take);
  return found;
}

std::set<std::string> UsersPartition::keys() const {
  std::set<std::string> keys;
  read(0, end(), [&](std::string_view key, std::optional<std::string_view> value) {
    value ? static_cast<void>(keys.emplace(key)) : static_cast<void>(keys.erase(std::string(key)));
  });
  return keys;
}

}  // namespace nustream::attach
