// [kafka] and the keys of [release] that belong to it: where a topic is, how lanes go on and when they end.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace nustream::config {

/// Where in a partition a lane begins or ends. Times are milliseconds since 1970-01-01T00:00:00Z.
struct Earliest {};
struct Latest {};  ///< the last stable offset, at the time when it is resolved
struct AtOffset {
  std::uint64_t offset;
};
struct AtTime {
  std::int64_t milliseconds;
};
using Place = std::variant<Earliest, Latest, AtOffset, AtTime>;

/// The topics of one stream. Lane n writes to partition n of each. So every topic but the model's needs at least as
/// many partitions as the input.
struct Topics {
  std::string input;
  std::string releases;
  std::string state;
  std::string ledger;
  std::string dead_letters;  ///< empty: unusable records are only counted
  std::string model;         ///< for the combined model; empty: there is none
  std::string users{};       ///< the store of users, where the unit is the user; else empty
};

/// Names among Kafka::properties: kafka.oauth_token_file, which is a path, and kafka.oauth_token_command, whose words
/// stand one on each line.
inline constexpr std::string_view oauth_file_property = "oauth_token_file";
inline constexpr std::string_view oauth_command_property = "oauth_token_command";

struct Kafka {
  std::string brokers;  ///< host:port, several separated by commas; empty: there is no [kafka]
  std::string group;
  std::string instance;  ///< group.instance.id; empty: a member that leaves is dropped at once
  Topics topics;
  Place start = Earliest{};
  std::optional<Place> stop;         ///< empty: never
  std::uint64_t commit_threads = 0;  ///< 0: one for each lane, at most 8
  std::uint64_t lanes_max = 64;
  std::chrono::milliseconds transaction{60'000};  ///< transaction.timeout.ms, and a commit's deadline
  std::chrono::milliseconds give_up{300'000};     ///< exit with 69 after this time without a broker
  /// That limit for a command whose answer a person waits for: topics, inspect, check --data.
  [[nodiscard]] std::chrono::milliseconds person_gives_up() const {
    return std::min(give_up, std::chrono::milliseconds{10'000});
  }
  std::chrono::milliseconds drain{30'000};        ///< how long a lane that is revoked or ends has to finish its batch
  std::chrono::milliseconds model_every{10'000};  ///< how often a combined model is published
  std::size_t dead_letter_bytes_max = 65'536;     ///< size of a dead letter's value
  std::size_t buffered_records = 100'000;         ///< rows of a lane that may wait for their step
  /// Properties of librdkafka, from [kafka.librdkafka] and -X; and where its tokens come from, under the two names
  /// above.
  std::map<std::string, std::string> properties;
  /// Where somebody set a property, as messages name it: "stream.toml:12:9: kafka.librdkafka.debug", or "-X debug".
  std::map<std::string, std::string> places{};
};

/// Whether clients show tokens that are renewed. After a token that is refused, another one may be accepted.
[[nodiscard]] inline bool renews_tokens(const std::map<std::string, std::string>& properties) {
  return properties.contains(std::string(oauth_file_property)) ||
         properties.contains(std::string(oauth_command_property));
}

}  // namespace nustream::config
