// Whether we may write to a topic, found out by writing.
#pragma once

#include <string>

#include "kafka/client_settings.h"
#include "kafka/partition.h"

namespace nustream::kafka {

/// Writes one record to partition 0 of `topic` in a transaction that is aborted: readers of committed records never
/// see it. `transactional_id` is nobody else's but of those who ask the same. Waits, at most until about `deadline`.
///
/// KafkaFailure(authorization) where the brokers refuse the topic or the transactional id, or do not let us in. What
/// else keeps the record from being written says nothing about rights, and is no failure here. Cancelled.
void require_right_to_write(const ClientSettings& settings, const std::string& transactional_id,
                            const std::string& topic, Deadline deadline);

}  // namespace nustream::kafka
