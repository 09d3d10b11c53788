// Reports from a Kafka topic: one member of a group reads all of its partitions, from where the sums have them.
#pragma once

#include <atomic>

#include "local/counting.h"
#include "local/settings.h"

namespace nustream::local {

/// Counts the records of settings.kafka.topics.input until `signal` is set, or with `until_end` the end that the
/// topic has at the beginning. Positions are kept with the sums, not with the group: what a crash interrupted is read
/// again and counted once. Commits at the end. Throws Failure: configuration for a missing topic, data where the
/// topic ends before a position, locked where another member of the group has partitions, unavailable past
/// kafka.give_up.
void count_topic(const Settings& settings, bool until_end, Counting& counting, const std::atomic<int>& signal);

}  // namespace nustream::local
