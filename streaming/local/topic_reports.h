// Reads reports from a Kafka topic: one member of a group reads all partitions, from where the sums have them.
#pragma once

#include <atomic>

#include "local/counting.h"
#include "local/settings.h"

namespace nustream::local {

/// Counts the records of settings.kafka.topics.input until `signal` is set, or, with `until_end`, up to the end that
/// the topic has at the beginning. Positions are kept with the sums and not with the group, so that what a crash
/// interrupted is read again and counted once. Commits at the end.
///
/// Throws Failure: configuration for a missing topic, data where the topic ends before a position, locked where
/// another member of the group takes partitions, and unavailable where brokers are away for longer than
/// kafka.give_up.
void count_topic(const Settings& settings, bool until_end, Counting& counting, const std::atomic<int>& signal);

}  // namespace nustream::local
