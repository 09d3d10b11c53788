// Which topics a lane writes to, and by what client.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "attach/lane_state.h"
#include "kafka/client_settings.h"
#include "kafka/lane_place.h"

namespace nustream::attach {

/// A topic has no partition for the lane: not yet, perhaps.
class LaneWithoutPartition : public std::exception {
 public:
  explicit LaneWithoutPartition(std::string reason) : reason_(std::move(reason)) {}
  /// One line: which topic, and what to do.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  [[nodiscard]] const char* what() const noexcept override { return reason_.c_str(); }

 private:
  std::string reason_;
};

/// The topics that have to have a partition of the lane's own.
[[nodiscard]] std::vector<std::string> lane_topics(const kafka::LanePlace& place);

/// LaneWithoutPartition where one of them has none: never hashed, never modulo, a lane without its own partition has
/// nowhere to write to. `partitions`: of the input. Waits as TopicChecks does.
void require_partitions(const kafka::ClientSettings& client, const kafka::LanePlace& place, std::uint32_t partitions,
                        kafka::Deadline deadline);

/// LaneWithoutPartition where the unit is the user and the partition was added since the process began: among how
/// many lanes users are divided holds for an epoch of all lanes, and one more is none of them.
void require_users_lane(const Setup& setup, const kafka::LanePlace& place);

/// `client` for the lane's producer: records that travel together have to fit their topic as each of them does, where
/// the topic may take less than the others.
[[nodiscard]] kafka::ClientSettings writing_client(const kafka::ClientSettings& client, const kafka::LanePlace& place,
                                                   const Setup& setup);

}  // namespace nustream::attach
