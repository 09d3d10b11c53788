// Topics, groups and rights on a test's broker.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace nustream::tests {

/// Settings of a topic, by Kafka's names.
using TopicSettings = std::map<std::string, std::string>;

/// Makes a topic and waits until each of its partitions has a leader. All functions here throw where the broker
/// refuses.
void create_topic(const std::string& bootstrap, const std::string& topic, int partitions = 1,
                  const TopicSettings& settings = {}, int replication_factor = 1);
/// Deletes a topic and waits until it is gone.
void delete_topic(const std::string& bootstrap, const std::string& topic);
/// Raises the number of partitions, and waits for the leaders of the new ones.
void add_partitions(const std::string& bootstrap, const std::string& topic, int partitions);
/// Sets a topic's own settings; those that are not named go back to the broker's.
void alter_topic(const std::string& bootstrap, const std::string& topic, const TopicSettings& settings);
/// Deletes the records below `offset`, at which the partition then begins.
void delete_records(const std::string& bootstrap, const std::string& topic, int partition, std::int64_t offset);
/// Forgets what the group committed. The group must not have members.
void delete_group(const std::string& bootstrap, const std::string& group);
/// Does for a partition what `kafka-consumer-groups --reset-offsets --to-offset` does. The group must not have
/// members.
void reset_group_offset(const std::string& bootstrap, const std::string& group, const std::string& topic,
                        int partition, std::int64_t offset);

/// A right to a topic or a group. `operation` is what Kafka's own command calls it, such as "Read".
struct AccessRight {
  enum class To { topic, group };
  To to;
  std::string name;
  std::string operation;
};
/// Both wait until the broker at `bootstrap` knows of the change.
void grant_right(const std::string& bootstrap, const std::string& user, const AccessRight& right);
void take_right_away(const std::string& bootstrap, const std::string& user, const AccessRight& right);

}  // namespace nustream::tests
