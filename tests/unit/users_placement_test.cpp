// Lanes of users: Kafka's partition of a key, and the change to another number of lanes.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string_view>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/users/placement.h"

namespace nustream::users {
namespace {

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// The values are those of Kafka's own UtilsTest.testMurmur2, which has them as signed numbers.
TEST(Murmur2, IsThatOfTheJavaClient) {
  const std::vector<std::pair<std::string_view, std::int32_t>> known{
      {"21", -973932308},
      {"foobar", -790332482},
      {"a-little-bit-long-string", -985981536},
      {"a-little-bit-longer-string", -1486304829},
      {"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971},
      {"abc", 479470107}};
  for (const auto& [key, value] : known) EXPECT_EQ(murmur2(bytes_of(key)), static_cast<std::uint32_t>(value)) << key;
}

TEST(LaneOf, CutsTheSignOffForMurmur2Alone) {
  EXPECT_EQ(lane_of(Partitioner::murmur2, 0x80000001U, 7).value(), 1U);
  EXPECT_EQ(lane_of(Partitioner::crc32, 0x80000001U, 7).value(), 0x80000001U % 7);
  EXPECT_EQ(lane_of(Partitioner::user_hash, number_of({1, 0xabcdef0123456789U}), 10).value(), 0x23456789U % 10);
  EXPECT_THROW(static_cast<void>(lane_of(Partitioner::crc32, 1, 0)), InvalidParameter);
}

TEST(LaneChange, NobodyBeginsBeforeEveryOldLaneEnded) {
  LaneChange change(3, 5);
  EXPECT_EQ(change.of_old(LaneId{1}), Turn::steps);
  EXPECT_TRUE(change.closed(LaneId{1}));
  EXPECT_EQ(change.of_old(LaneId{1}), Turn::ended);
  EXPECT_EQ(change.of_new(LaneId{1}), Turn::waits);
  EXPECT_TRUE(change.closed(LaneId{1}));  // the mark is read once more
  EXPECT_TRUE(change.closed(LaneId{0}));
  EXPECT_EQ(change.of_new(LaneId{4}), Turn::waits);
  EXPECT_FALSE(change.closed(LaneId{3}));  // lane 3 is no old lane
  EXPECT_TRUE(change.closed(LaneId{2}));
  for (std::uint32_t lane = 0; lane < 5; ++lane) EXPECT_EQ(change.of_new(LaneId{lane}), Turn::steps);
  EXPECT_EQ(change.of_new(LaneId{5}), Turn::waits);  // the topic has grown beyond the epoch's lanes
  EXPECT_THROW(LaneChange(0, 1), InvalidParameter);
  EXPECT_THROW(LaneChange(1, 0), InvalidParameter);
}

// Lanes read each other's marks in any order, take steps when they may, and die at any time, after which they read
// all marks again. No user counts in two lanes at once, and one new lane keeps each user.
TEST(LaneChange, InEveryHistoryAUserCountsInOneLaneAtATime) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 500; ++trial) {
    const auto before = static_cast<std::uint32_t>(1 + random() % 5);
    const auto after = static_cast<std::uint32_t>(1 + random() % 5);
    std::set<std::uint32_t> marks;  // the committed marks
    std::map<std::uint32_t, LaneChange> lanes;
    for (std::uint32_t lane = 0; lane < std::max(before, after); ++lane) lanes.try_emplace(lane, before, after);
    bool new_has_stepped = false;
    for (int event = 0; event < 200; ++event) {
      const auto lane = static_cast<std::uint32_t>(random() % lanes.size());
      LaneChange& own = lanes.at(lane);
      switch (random() % 4) {
        case 0:
          if (lane < before && !new_has_stepped) marks.insert(lane);
          break;
        case 1:
          for (const std::uint32_t mark : marks) {
            if (random() % 2 == 0) own.closed(LaneId{mark});
          }
          break;
        case 2:
          own = LaneChange(before, after);  // the process has died
          break;
        default:
          if (own.of_new(LaneId{lane}) == Turn::steps) {
            EXPECT_EQ(marks.size(), before);
            EXPECT_LT(lane, after);
            new_has_stepped = true;
          }
      }
    }
    const std::uint32_t number = static_cast<std::uint32_t>(random());
    for (const auto partitioner : {Partitioner::murmur2, Partitioner::crc32, Partitioner::user_hash}) {
      int keepers = 0;
      for (std::uint32_t lane = 0; lane < after; ++lane) {
        keepers += LaneChange(before, after).keeps(LaneId{lane}, partitioner, number) ? 1 : 0;
      }
      EXPECT_EQ(keepers, 1);
    }
  }
}

}  // namespace
}  // namespace nustream::users
