// Which topics a lane writes to, whether it may, and with which settings of its client.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "attach/lane_state.h"
#include "kafka/client_settings.h"
#include "kafka/partition.h"

namespace nustream::attach {

/// Thrown where a topic has no partition for the lane. The lane looks again later, because an operator may add one.
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

/// Throws LaneWithoutPartition where one of those topics has no partition of the lane's number. Lanes never share a
/// partition (by a hash or a remainder), so a lane without its own has nowhere to write to. `partitions` is the
/// number of the input's partitions. Waits as TopicChecks does.
void require_partitions(const kafka::ClientSettings& client, const kafka::LanePlace& place, std::uint32_t partitions,
                        kafka::Deadline deadline);

/// Throws LaneWithoutPartition where the unit is the user and the input's partition was added after the process
/// began. The number of lanes among which users are divided holds for a whole epoch of all lanes, and no user counts
/// in a lane beyond it.
void require_users_lane(const Setup& setup, const kafka::LanePlace& place);

/// The settings of `client` for the lane's producer. A topic may have a smaller limit than others, and that limit
/// holds for a batch of records as well as for one record. So batch.size becomes at most the smallest limit of the
/// topics of dead letters and of users.
[[nodiscard]] kafka::ClientSettings writing_client(const kafka::ClientSettings& client, const kafka::LanePlace& place,
                                                   const Setup& setup);

}  // namespace nustream::attach
