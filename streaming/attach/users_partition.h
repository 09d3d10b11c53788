// A lane's partition of the topic of users, as it is read while a lane is opened.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "attach/lane_state.h"
#include "kafka/client_settings.h"
#include "kafka/lane_place.h"
#include "users/topic_log.h"

namespace nustream::attach {

/// Calls wait, and throw KafkaFailure where no broker answers, Cancelled once nobody wants it any more. References
/// outlive it.
class UsersPartition {
 public:
  UsersPartition(const Setup& setup, const kafka::ClientSettings& client, kafka::LanePlace place,
                 const std::atomic<bool>& cancelled)
      : setup_(setup), client_(client), place_(std::move(place)), cancelled_(cancelled) {}

  /// The high watermark.
  [[nodiscard]] std::uint64_t end() const;
  /// Committed records from `from` on, below `end`; for as long as it takes, as long as it goes on.
  [[nodiscard]] users::TopicLog::ReadFrom reader(std::uint64_t end) const;
  /// The last value under a key; nothing where there is none.
  [[nodiscard]] std::optional<std::string> find(const std::string& key) const;

  [[nodiscard]] users::StoreIdentity identity() const { return {place_.stream, place_.lane}; }

 private:
  const Setup& setup_;
  const kafka::ClientSettings& client_;
  kafka::LanePlace place_;
  const std::atomic<bool>& cancelled_;
};

}  // namespace nustream::attach
