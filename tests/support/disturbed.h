// A topic that is written while instances of the service are disturbed, and what has to be there afterwards.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "attach_promise.h"

namespace nustream::tests {

inline void pause(int time) {
  std::this_thread::sleep_for(std::chrono::milliseconds(time));
}

/// Arguments for small batches and short sessions.
inline std::vector<std::string> quick(std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"--set", "state.commit_records=20",     "--set", "kafka.transaction_seconds=6",
                                     "-X",    "session.timeout.ms=3000",     "-X",    "heartbeat.interval.ms=500",
                                     "-X",    "reconnect.backoff.max.ms=200"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// Under a known seed the releases are known. Under a real key, noise that was drawn twice would show.
enum class Key { seed, real };

/// A topic that is written while the instances are disturbed, and then read to its end by an undisturbed one.
class Disturbed {
 public:
  Disturbed(int partitions, std::size_t records, Key key) : world_(partitions), key_(key) {
    for (int p = 0; p < partitions; ++p) {
      values_.push_back(AttachWorld::values(records, static_cast<std::uint64_t>(p) + 1));
    }
  }

  [[nodiscard]] const AttachWorld& world() const noexcept { return world_; }
  [[nodiscard]] std::vector<std::string> arguments(std::vector<std::string> more = {}) const {
    if (key_ == Key::seed) more.insert(more.end(), {"--insecure-seed", "7"});
    return world_.attach(quick(std::move(more)));
  }
  [[nodiscard]] std::unique_ptr<Command> instance(const std::vector<std::string>& more = {}) const {
    return std::make_unique<Command>(NUSTREAM_COMMAND, arguments(more));
  }
  /// An instance with kill points, which make it wait in the middle of a transaction.
  [[nodiscard]] std::unique_ptr<Command> faulty(const std::string& failpoint,
                                                std::vector<std::string> more = {}) const {
    return std::make_unique<Command>(NUSTREAM_FAULTY, arguments(std::move(more)), std::nullopt,
                                     std::vector<std::string>{"NUSTREAM_FAILPOINT=" + failpoint});
  }
  /// Waits until there are records on the broker that no transaction has committed.
  void wait_for_open_transaction() const {
    // Between these two offsets are the records of open transactions.
    kafka::PartitionReader stable(settings_for(world_.direct()), kafka::Isolation::read_committed, "open");
    kafka::PartitionReader all(settings_for(world_.direct()), kafka::Isolation::read_uncommitted, "open");
    const auto bounds = [&](int partition) {
      const kafka::TopicPartition place{world_.name() + ".state", kafka::PartitionIndex{partition}};
      return std::pair(stable.watermarks(place, soon()).high, all.watermarks(place, soon()).high);
    };
    wait_until([&] {
      for (int p = 0; p < world_.partitions(); ++p) {
        const auto seen = bounds(p);
        if (seen.first == seen.second) continue;
        pause(300);  // a transaction that is seen twice is not just about to commit
        if (bounds(p) == seen) return true;
      }
      return false;
    });
  }
  /// How many states were written and never committed.
  [[nodiscard]] std::size_t aborted_states() const {
    std::size_t count = 0;
    for (int p = 0; p < world_.partitions(); ++p) count += aborted(world_, world_.name() + ".state", p).size();
    return count;
  }
  /// A topic that somebody else writes, on brokers that keep `replicas` of each partition.
  Disturbed(int partitions, Key key, const std::string& bootstrap, int replicas)
      : world_(partitions, bootstrap, replicas), key_(key), values_(static_cast<std::size_t>(partitions)) {}

  /// Writes the next records of every partition; returns false when all are written.
  bool write(std::size_t count) {
    if (written_ == values_.front().size()) return false;
    const std::size_t end = std::min(written_ + count, values_.front().size());
    for (int p = 0; p < world_.partitions(); ++p) {
      const auto& all = values_[static_cast<std::size_t>(p)];
      world_.write(
          {all.begin() + static_cast<std::ptrdiff_t>(written_), all.begin() + static_cast<std::ptrdiff_t>(end)}, p);
    }
    written_ = end;
    return true;
  }
  [[nodiscard]] std::uint64_t steps() const {
    std::uint64_t steps = 0;
    for (int p = 0; p < world_.partitions(); ++p) steps += ledger_end(world_, p).steps;
    return steps;
  }

  /// Lets an undisturbed instance finish the stream. Where an instance was killed, up to `instances_max` of them do
  /// so, one after the other: the killed one's lanes are free only after its session has run out. Then checks that
  /// everything is there, once.
  void finish_and_check(int instances_max = 1) {
    while (write(1000)) {
    }
    finish(instances_max);
  }
  /// Does the same with a topic that somebody else wrote.
  void finish_what_is_there(int instances_max) {
    for (int p = 0; p < world_.partitions(); ++p) {
      values_[static_cast<std::size_t>(p)] = values_of(world_.committed(world_.name(), p));
    }
    finish(instances_max);
  }

 private:
  void finish(int instances_max) {
    std::size_t records = 0;
    for (const auto& values : values_) records += values.size();
    for (int instances = 0; instances == 0 || (instances < instances_max && steps() < records); ++instances) {
      const CommandResult result = run_command(NUSTREAM_COMMAND, arguments({"--until-end"}));
      ASSERT_EQ(result.code, 0) << result.err;
    }
    for (int p = 0; p < world_.partitions(); ++p) {
      SCOPED_TRACE("partition " + std::to_string(p));
      const auto& values = values_[static_cast<std::size_t>(p)];
      if (key_ == Key::seed) {
        expect_same_lines(by_cadence(world_.releases(p)), by_cadence(split(replayed(world_, values, 7, p))));
      } else {
        expect_each_step_once(world_.releases(p));
        EXPECT_EQ(by_cadence(world_.releases(p)).size(), values.size() / 100);
      }
      expect_one_value_a_step(world_.releases_uncommitted(p));
      EXPECT_EQ(ledger_end(world_, p).steps, values.size());
      EXPECT_EQ(ledger_end(world_, p).to, values.size());
    }
  }

  /// The releases by cadence. A release at a shutdown or at an end stands at a step of its own, which depends on
  /// where the stream was stopped.
  static std::vector<std::string> by_cadence(const std::vector<std::string>& lines) {
    std::vector<std::string> rest;
    std::copy_if(lines.begin(), lines.end(), std::back_inserter(rest),
                 [](const std::string& line) { return line.find("\"tag\":\"cadence\"") != std::string::npos; });
    return rest;
  }

  static std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

  /// Compares line by line, because the first line that differs says more than both texts.
  static void expect_same_lines(const std::vector<std::string>& published, const std::vector<std::string>& wanted) {
    for (std::size_t i = 0; i < std::min(published.size(), wanted.size()); ++i) {
      ASSERT_EQ(published[i], wanted[i]) << "line " << i;
    }
    EXPECT_EQ(published.size(), wanted.size());
  }

  AttachWorld world_;
  Key key_;
  std::vector<std::vector<std::string>> values_;
  std::size_t written_ = 0;
};

}  // namespace nustream::tests
