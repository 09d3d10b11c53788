// Lives of a store of users over a disk that loses power, kills the process and tears writes: after each of them the
// table is that of the committed batches.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>

#include "simulated_disk.h"
#include "users/user_log.h"
#include "users_table.h"

namespace nustream::users {
namespace {

using tests::SimulatedDisk;
using Plain = tests::PlainUsers;
using tests::read;

/// A lane reduced to its store, and to the state that says how far the store is.
class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed), disk_(seed) { disk_.make_folder("f"); }

  /// One life of a process: it loads, commits batches, and ends by itself or by the disk's fault. Returns the number
  /// of batches.
  void live() {
    const bool crashes = random_() % 4 != 0;
    disk_.start_process({crashes ? 1 + random_() % 60 : 0});
    try {
      Table table;
      UserLog log(disk_, "f", key_, {"mine", LaneId{0}}, table, segment_bytes);
      log.load(committed_);
      ASSERT_EQ(read(table), plain_);
      const std::size_t batches = random_() % 20;
      for (std::size_t i = 0; i < batches; ++i) commit(log, table);
    } catch (const tests::SimulatedCrash&) {
      ++crashes_;
    }
    if (random_() % 2 == 0) {
      disk_.lose_power();
    } else {
      disk_.kill_process();
    }
  }
  [[nodiscard]] int crashes() const { return crashes_; }
  [[nodiscard]] std::uint64_t bytes() const {
    return disk_.seen("f/users-0.log").size() + disk_.seen("f/users-1.log").size();
  }
  /// The number of files that were begun.
  [[nodiscard]] std::uint64_t segments() const {
    std::uint64_t last = 0;
    for (const char* name : {"f/users-0.log", "f/users-1.log"}) {
      const std::string file = disk_.seen(name);
      if (file.size() >= 20) last = std::max<std::uint64_t>(last, static_cast<unsigned char>(file[12]));
    }
    return last;
  }
  /// The number of users that the batches touch.
  std::uint64_t users = 400;
  std::size_t records = 30;
  std::uint64_t segment_bytes = 2000;

 private:
  void commit(UserLog& log, Table& table) {
    Changes batch(table);
    Plain next = plain_;
    if (random_() % 25 == 0) {
      static_cast<void>(log.append_epoch({}));
      for (auto& [user, entry] : next) entry.standing = carried_over(entry.standing);
    }
    if (random_() % 25 == 0) {
      batch.empty_table();
      next.clear();
    }
    const std::size_t changes = random_() % records;
    for (std::size_t i = 0; i < changes; ++i) {
      const std::uint64_t user = random_() % users;
      const Entry entry{{user * 0x9e3779b97f4a7c15, user},
                        static_cast<std::uint32_t>(user),
                        {random_() % 1000, static_cast<std::uint32_t>(1 + random_() % 9), 5}};
      batch.put(entry);
      next[entry.user] = entry;
    }
    const StoreMark mark = log.append(batch);
    log.sync();
    committed_ = mark;  // the state is renamed at this point
    plain_ = next;
    log.committed(batch);
    ASSERT_EQ(read(table), plain_);
  }

  std::mt19937_64 random_;
  SimulatedDisk disk_;
  UserKey key_{noise::KeyBytes{1}};
  StoreMark committed_;
  Plain plain_;
  int crashes_ = 0;
};

TEST(UserLog, IsThatOfTheCommittedBatchesAfterEveryCrash) {
  int crashes = 0;
  std::uint64_t segments = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    World world(seed);
    for (int life = 0; life < 60; ++life) {
      world.live();
      if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << " life " << life;
    }
    crashes += world.crashes();
    segments += world.segments();
  }
  EXPECT_GT(crashes, 150);
  EXPECT_GT(segments, 120);
}

// The two segments take turns: however many batches there were, both files together hold a few tables.
TEST(UserLog, IsBoundedByItsUsers) {
  World world(7);
  world.users = 10'000;
  world.records = 4'000;
  std::uint64_t largest = 0;
  for (int life = 0; life < 20; ++life) {
    world.live();
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    largest = std::max(largest, world.bytes());
  }
  const std::uint64_t table = 10'000 * entry_bytes;
  EXPECT_LE(largest, 8 * (table + (1U << 20)));
  EXPECT_GE(largest, table);
}

}  // namespace
}  // namespace nustream::users
