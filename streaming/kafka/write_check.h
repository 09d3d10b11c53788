// Finds out by writing whether this client may write to a topic.
#pragma once

#include <string>

#include "kafka/client_settings.h"
#include "kafka/partition.h"

namespace nustream::kafka {

/// Writes one record to partition 0 of `topic` in a transaction that is aborted, so that readers of committed records
/// never see it. `transactional_id` must not be used for anything but this question. Waits, at most until about
/// `deadline`.
///
/// Throws KafkaFailure where the brokers refuse the topic or the transactional id, or do not let the client in.
/// Whatever else keeps the record from being written says nothing about rights, and is no failure here. Throws
/// Cancelled.
void require_right_to_write(const ClientSettings& settings, const std::string& transactional_id,
                            const std::string& topic, Deadline deadline);

}  // namespace nustream::kafka
