// Reads a lane's partition of the topic of users, while the lane is opened.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kafka/client_settings.h"
#include "kafka/partition.h"
#include "users/topic_log.h"

namespace nustream::attach {

/// Calls wait for brokers. They throw KafkaFailure where no broker answers, and Cancelled once `cancelled` is true.
/// References outlive it.
class UsersPartition {
 public:
  /// `patience` is how long a broker's answer, or the next record, is waited for.
  UsersPartition(const kafka::ClientSettings& client, kafka::LanePlace place, std::chrono::milliseconds patience,
                 const std::atomic<bool>& cancelled)
      : client_(client), place_(std::move(place)), patience_(patience), cancelled_(cancelled) {}

  /// The partition's high watermark: one past the offset of its last record, committed or not.
  [[nodiscard]] std::uint64_t end() const;
  /// A reader of committed records below `end`. It has no deadline for the whole, only `patience` from record to
  /// record.
  [[nodiscard]] users::TopicLog::ReadFrom reader(std::uint64_t end) const;
  /// The last value under `key`; nothing where there is none, or where it was deleted.
  [[nodiscard]] std::optional<std::string> find(const std::string& key) const;
  /// All keys under which there is a value.
  [[nodiscard]] std::set<std::string> keys() const;

  [[nodiscard]] users::StoreIdentity identity() const { return {place_.stream, place_.lane}; }

 private:
  using TakeAny = std::function<void(std::string_view key, std::optional<std::string_view> value)>;
  void read(std::uint64_t from, std::uint64_t end, const TakeAny& take) const;

  const kafka::ClientSettings& client_;
  kafka::LanePlace place_;
  std::chrono::milliseconds patience_;
  const std::atomic<bool>& cancelled_;
};

}  // namespace nustream::attach
