// A stream on a real broker whose unit of privacy is the user.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>
#include <simdjson.h>

#include "attach_promise.h"

namespace nustream::tests {

/// A partitioner of librdkafka.
using KafkaPartitioner = decltype(rd_kafka_msg_partitioner_murmur2);

/// The partition, among `lanes`, that the Java client and librdkafka's murmur2 give a key.
inline int partition_of(const std::string& key, int lanes,
                        KafkaPartitioner* partitioner = rd_kafka_msg_partitioner_murmur2) {
  return partitioner(nullptr, key.data(), key.size(), lanes, nullptr, nullptr);
}

/// A stream of values `who,x,y`. The column names a record's user, or the record's key does.
class AttachUsersWorld : public AttachWorld {
 public:
  explicit AttachUsersWorld(int partitions = 1, const std::string& user = "who") : AttachWorld(partitions) {
    create_topic(direct(), users_topic(), partitions, {{"cleanup.policy", "compact"}});
    change_config({{R"(columns = ["x", "y"])", R"(columns = ["who", "x", "y"])"},
                   {"clip_norm = 1.0\naverage = \"tail\"\naverage_from = 500\n", "clip_norm = 1.0\nminibatch = 5\n"},
                   {"[privacy]\n", "[privacy]\nunit = \"user\"\nuser = \"" + user + "\"\nuser_null = [\"0\"]\n"},
                   {"every = 100", "every = 10"},
                   {"[kafka]\n", "[users]\nparticipations = 3\nseparation = 2\n[kafka]\n"}});
  }

  [[nodiscard]] std::string users_topic() const { return name() + ".users"; }

  /// Values of 60 users. Every 97th value is unusable, and user 0 is nobody.
  [[nodiscard]] static std::vector<std::string> values_of_users(std::size_t count, std::uint64_t seed = 1) {
    std::vector<std::string> values = AttachWorld::values(count, seed);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = std::to_string((((i + 1) * 2654435761U + seed * 40503U) >> 7U) % 61) + "," + values[i];
    return values;
  }
  [[nodiscard]] static std::string user_of(const std::string& value) { return value.substr(0, value.find(',')); }

  /// Writes each value with its user as the key, to the key's partition among those that there were at first.
  void write_keyed(const std::vector<std::string>& values) const { write_among(values, partitions()); }
  void write_among(const std::vector<std::string>& values, int lanes,
                   KafkaPartitioner* partitioner = rd_kafka_msg_partitioner_murmur2) const {
    std::map<int, std::vector<StoredRecord>> records;
    for (const std::string& value : values) {
      records[partition_of(user_of(value), lanes, partitioner)].push_back({user_of(value), value});
    }
    for (const auto& [partition, of_it] : records) write_records(direct(), name(), partition, of_it);
  }
  [[nodiscard]] std::vector<std::string> values_of_lane(const std::vector<std::string>& values, int lane) const {
    std::vector<std::string> of_lane;
    for (const std::string& value : values) {
      if (partition_of(user_of(value), partitions()) == lane) of_lane.push_back(value);
    }
    return of_lane;
  }

  /// Raises the number of partitions of all topics.
  void add_partitions_to_all(int partitions) const {
    for (const char* topic : {"", ".users", ".releases", ".state", ".ledger", ".dead"}) {
      add_partitions(direct(), name() + topic, partitions);
    }
  }

  /// Empties the store, as a broker that lost it would have it.
  void lose_users(int partitions = 1) const {
    delete_topic(direct(), users_topic());
    create_topic(direct(), users_topic(), partitions, {{"cleanup.policy", "compact"}});
  }
};

/// The estimate of every release by epoch and step. A run in parts and one in one go share these, whatever tags they
/// have.
inline std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> estimates_of(
    const std::vector<std::string>& releases) {
  simdjson::dom::parser parser;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> estimates;
  for (const std::string& line : releases) {
    const simdjson::dom::element release = parser.parse(line);
    const std::pair step{release["epoch"].get_uint64().value(), release["step"].get_uint64().value()};
    estimates[step] = simdjson::to_string(release["estimate"]);
  }
  return estimates;
}
inline std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> estimates_of(const std::string& lines) {
  std::vector<std::string> releases;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    releases.push_back(lines.substr(at, end - at));
    at = end + 1;
  }
  return estimates_of(releases);
}

/// Expects that all steps that are in both have the same estimates. Returns how many those are.
inline std::size_t expect_same_estimates(const std::vector<std::string>& attached,
                                         const std::string& replayed_lines) {
  const auto expected = estimates_of(replayed_lines);
  std::size_t shared = 0;
  for (const auto& [step, estimate] : estimates_of(attached)) {
    const auto same = expected.find(step);
    if (same == expected.end()) continue;  // a release at the end of a part
    EXPECT_EQ(estimate, same->second) << "step " << step.second;
    ++shared;
  }
  return shared;
}

}  // namespace nustream::tests
