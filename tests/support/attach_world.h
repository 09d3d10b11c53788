// A stream on a real broker: its topics, its configuration, and the service as a child process.
#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "command.h"
#include "kafka_broker.h"
#include "kafka_records.h"
#include "kafka_support.h"
#include "kafka_topics.h"
#include "temporary_folder.h"

namespace nustream::tests {

/// Each world has topics of its own on the shared broker.
class AttachWorld {
 public:
  /// Each partition has `replicas` replicas: as many as there are brokers, or one.
  explicit AttachWorld(int partitions = 1, const std::string& bootstrap = cluster().bootstrap(), int replicas = 1)
      : bootstrap_(bootstrap), name_(fresh_name("world")), partitions_(partitions) {
    create_topic(direct(), name_, partitions, {}, replicas);
    create_topic(direct(), name_ + ".releases", partitions, {}, replicas);
    create_topic(direct(), name_ + ".state", partitions, {{"cleanup.policy", "compact"}}, replicas);
    create_topic(direct(), name_ + ".ledger", partitions, {{"retention.ms", "-1"}}, replicas);
    create_topic(direct(), name_ + ".dead", partitions, {}, replicas);
    config_ = folder_.write("stream.toml", R"([stream]
name = ")" + name_ + R"("
header = false
columns = ["x", "y"]
[target]
column = "y"
[[features]]
column = "x"
[descent]
step_size = 0.01
clip_norm = 1.0
average = "tail"
average_from = 500
[privacy]
rho = 0.5
delta = 1e-6
[noise]
nu = 0.01
[release]
every = 100
[state]
commit_records = 250
key_file = ")" + key() + R"("
[kafka]
brokers = ")" + bootstrap_ + R"("
topic = ")" + name_ + R"("
dead_letter_topic = ")" + name_ + R"(.dead"
[serve]
public_address = ""
operator_address = ""
operator_token_file = "none"
[log]
format = "plain"
)");
    static_cast<void>(run_command(NUSTREAM_COMMAND, {"key", "new", key()}));
  }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& config() const noexcept { return config_; }
  /// Replaces each first text of a pair, which must be in the configuration, by the second.
  void change_config(const std::vector<std::pair<std::string, std::string>>& replacements) {
    std::string text = read_file(config_);
    for (const auto& [before, after] : replacements) {
      const std::size_t at = text.find(before);
      if (at == std::string::npos) throw std::runtime_error("no such text in the configuration: " + before);
      text.replace(at, before.size(), after);
    }
    config_ = folder_.write("stream.toml", text);
  }
  [[nodiscard]] std::string key() const { return (folder_.path() / "key").string(); }
  [[nodiscard]] static std::string direct() { return cluster().direct(); }
  /// Sets the cluster of the worlds that follow; it has to outlive them.
  static void use(KafkaCluster& cluster) { in_use() = &cluster; }
  [[nodiscard]] const TemporaryFolder& folder() const noexcept { return folder_; }
  [[nodiscard]] int partitions() const noexcept { return partitions_; }

  [[nodiscard]] std::vector<std::string> attach(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"attach", config_});
    return more;
  }
  /// Runs the service until it ends by itself.
  [[nodiscard]] CommandResult run(std::vector<std::string> more = {}) const {
    return run_command(NUSTREAM_COMMAND, attach(std::move(more)));
  }

  /// Values with y = 1 − x/2 + noise; every 97th value is unusable.
  [[nodiscard]] static std::vector<std::string> values(std::size_t count, std::uint64_t seed = 1);
  void write(const std::vector<std::string>& values, int partition = 0) const {
    write_values(direct(), name_, partition, values);
  }
  /// The committed records of one of the stream's topics. A commit is decided before its markers are in every
  /// partition, so this waits until no transaction is open there.
  [[nodiscard]] std::vector<StoredRecord> committed(const std::string& topic, int partition = 0) const {
    const kafka::TopicPartition place{topic, kafka::PartitionIndex{partition}};
    kafka::PartitionReader stable(settings_for(direct()), kafka::Isolation::read_committed, "settled");
    kafka::PartitionReader all(settings_for(direct()), kafka::Isolation::read_uncommitted, "settled");
    wait_until([&] { return stable.watermarks(place, soon()).high == all.watermarks(place, soon()).high; });
    return read_committed_records(direct(), topic, partition);
  }
  /// The releases as a reader of committed records finds them, or with aborted ones.
  [[nodiscard]] std::vector<std::string> releases(int partition = 0) const {
    return values_of(committed(name_ + ".releases", partition));
  }
  [[nodiscard]] std::vector<std::string> releases_uncommitted(int partition = 0) const {
    return values_of(read_uncommitted_records(direct(), name_ + ".releases", partition));
  }

 private:
  static KafkaCluster*& in_use() {
    static KafkaCluster* cluster = nullptr;
    return cluster;
  }
  static KafkaCluster& cluster() { return in_use() != nullptr ? *in_use() : shared_broker(); }

  TemporaryFolder folder_;
  std::string bootstrap_;
  std::string name_;
  int partitions_;
  std::string config_;
};

inline std::vector<std::string> AttachWorld::values(std::size_t count, std::uint64_t seed) {
  std::uint64_t state = seed * 0x9e3779b97f4a7c15U + 1;
  const auto uniform = [&state] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<double>(state >> 11) / 9007199254740992.0 - 0.5;
  };
  std::vector<std::string> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = 3 * uniform();
    const double y = 1 - 0.5 * x + uniform();
    values.push_back(i % 97 == 96 ? "unusable,row" : std::to_string(x) + "," + std::to_string(y));
  }
  return values;
}

}  // namespace nustream::tests
