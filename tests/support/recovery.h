// Measures how long a stream is silent, where its readers are: at the committed releases.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "attach_world.h"
#include "campaign.h"

namespace nustream::tests {

/// Sees the committed releases of one partition as they come.
class ReleaseWatch {
 public:
  explicit ReleaseWatch(const AttachWorld& world, int partition = 0)
      : place_{world.name() + ".releases", kafka::PartitionIndex{partition}},
        reader_(settings_for(AttachWorld::direct()), kafka::Isolation::read_committed, "watch"),
        next_(reader_.watermarks(place_, soon()).high) {}

  using Time = std::chrono::steady_clock::time_point;
  /// Waits until a release can be read that could not when this object was made or last asked. Returns how long after
  /// `start` that is.
  std::chrono::milliseconds wait(Time start) {
    wait_until([&] { return has_new(); });
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  }

 private:
  /// Whether there is a new release. The end of the partition moves over control records as well, which do not count.
  bool has_new() {
    const kafka::Offset end = reader_.watermarks(place_, soon()).high;
    if (end <= next_) return false;
    std::size_t releases = 0;
    reader_.read_all(place_, next_, end, soon(), [&](const kafka::Message&) { ++releases; });
    next_ = end;
    return releases > 0;
  }

  kafka::TopicPartition place_;
  kafka::PartitionReader reader_;
  kafka::Offset next_;
};

/// Reports the median and the longest of some silences. In a campaign the longest has to be below `bar`.
inline void report_recovery(const std::string& what, std::vector<std::chrono::milliseconds> silences,
                            std::chrono::milliseconds bar) {
  ASSERT_FALSE(silences.empty());
  std::sort(silences.begin(), silences.end());
  const auto property = [&](const char* name, std::chrono::milliseconds::rep value) {
    ::testing::Test::RecordProperty(what + "_" + name, static_cast<int>(value));
  };
  property("count", static_cast<std::chrono::milliseconds::rep>(silences.size()));
  property("milliseconds_median", silences[silences.size() / 2].count());
  property("milliseconds_max", silences.back().count());
  property("milliseconds_bar", bar.count());
  if (campaign()) {
    EXPECT_LT(silences.back(), bar) << what;
  }
}

}  // namespace nustream::tests
