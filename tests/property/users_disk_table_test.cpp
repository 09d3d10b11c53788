// The table of users on disk: the memory table's twin under random operations, a cache that is made anew where it is
// not the one that the state knows, and files that tell nobody anything.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "expect_failure.h"
#include "nustream/users/table.h"
#include "refused_calls.h"
#include "simulated_disk.h"
#include "temporary_folder.h"
#include "users/disk_table.h"
#include "users/rebuild.h"
#include "users/user_log.h"
#include "users_table.h"

namespace nustream::users {
namespace {

namespace fs = std::filesystem;
using Plain = tests::PlainUsers;
using tests::read;

const UserKey key_of_tests{noise::KeyBytes{1}};

Entry random_entry(std::mt19937_64& random, std::uint64_t users) {
  const std::uint64_t user = random() % users;
  return {{user * 0x9e3779b97f4a7c15, user},
          static_cast<std::uint32_t>(user),
          {random() % 1000, static_cast<std::uint32_t>(1 + random() % 9), static_cast<std::uint32_t>(random())}};
}

/// Every file of a folder, by its name.
std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& file : fs::recursive_directory_iterator(folder)) {
    if (file.is_regular_file()) files.push_back(file.path());
  }
  std::ranges::sort(files);
  return files;
}

void copy_folder(const fs::path& from, const fs::path& to) {
  fs::remove_all(to);
  fs::copy(from, to, fs::copy_options::recursive);
}

// Batches, emptied ones, epochs, look-ups and openings: after each of them both tables hold the same.
TEST(DiskTable, IsTheTwinOfTheTableInMemory) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const tests::TemporaryFolder folder;
    std::mt19937_64 random(seed);
    Table twin;
    auto table = std::make_unique<DiskTable>(folder.path() / "t", key_of_tests);
    std::string mark;
    for (int operation = 0; operation < 120; ++operation) {
      Changes twins(twin);
      Changes changes(*table);
      if (random() % 20 == 0) {
        twins.empty_table();
        changes.empty_table();
      }
      for (std::size_t i = random() % 40; i > 0; --i) {
        const Entry entry = random_entry(random, 300);
        ASSERT_EQ(twins.find(entry.user), changes.find(entry.user));
        twins.put(entry);
        changes.put(entry);
      }
      twins.apply(twin);
      mark = std::to_string(operation);
      changes.apply(*table, mark);
      ASSERT_EQ(table->mark(), mark);
      ASSERT_EQ(table->size(), twin.size());
      if (random() % 25 == 0) {
        const auto carry = [](const Standing& standing) { return carried_over(standing); };
        twin.change_all(carry);
        table->change_all(carry);
        ASSERT_EQ(table->mark(), "");
        table->settle(twin.size(), mark);
      }
      if (random() % 10 == 0) {
        table.reset();
        table = std::make_unique<DiskTable>(folder.path() / "t", key_of_tests);
        ASSERT_EQ(table->mark(), mark);
      }
      ASSERT_EQ(read(*table), read(twin)) << "seed " << seed << " operation " << operation;
    }
  }
}

// What is not settled says so after it was opened again.
TEST(DiskTable, LosesItsMarkWithAnyOtherChange) {
  const tests::TemporaryFolder folder;
  const std::array<Entry, 1> one{Entry{{1, 2}, 3, {4, 5, 6}}};
  const auto opened = [&] { return std::make_unique<DiskTable>(folder.path() / "t", key_of_tests); };
  opened()->settle(0, "whole");
  EXPECT_EQ(opened()->mark(), "whole");
  opened()->put(one);
  EXPECT_EQ(opened()->mark(), "");
  opened()->settle(1, "again");
  EXPECT_EQ(opened()->size(), 1U);
  opened()->clear();
  EXPECT_EQ(opened()->mark(), "");
  EXPECT_EQ(read(*opened()), Plain());
}

// Neither the hashes nor the counts of users can be read in any file, also once they lie in sorted files; whoever
// opens the files under another key finds nothing.
TEST(DiskTable, HidesWhatItHolds) {
  const tests::TemporaryFolder folder;
  const std::string user = "sixteen bytes 1!";
  Entry entry{{0, 0}, 0x31313131, {0x3232323232323232, 0x33333333, 0x34343434}};
  for (std::size_t byte = 0; byte < 8; ++byte) {
    entry.user.high = entry.user.high << 8 | static_cast<unsigned char>(user[byte]);
    entry.user.low = entry.user.low << 8 | static_cast<unsigned char>(user[8 + byte]);
  }
  for (int life = 0; life < 3; ++life) {
    DiskTable table(folder.path() / "t", key_of_tests);
    table.put(std::span(&entry, 1));
    table.settle(1, "what nobody reads");
  }
  std::uintmax_t bytes = 0;
  for (const fs::path& file : files_of(folder.path())) {
    const std::string text = tests::read_file(file);
    bytes += text.size();
    for (const char* secret : {user.c_str(), "11112222222233334444", "what nobody reads", "leveldb", "rocksdb"}) {
      EXPECT_EQ(text.find(secret), std::string::npos) << file << ": " << secret;
    }
  }
  EXPECT_GT(bytes, 10'000U);
  EXPECT_EQ(DiskTable(folder.path() / "t", key_of_tests).find(entry.user), entry.standing);
  EXPECT_EQ(read(DiskTable(folder.path() / "t", UserKey(noise::KeyBytes{2}))), Plain());
}

TEST(DiskTable, IsOpenOnceAtATime) {
  const tests::TemporaryFolder folder;
  const DiskTable one(folder.path() / "t", key_of_tests);
  tests::expect_failure(
      Exit::locked, [&] { const DiskTable other(folder.path() / "t", key_of_tests, std::chrono::milliseconds(60)); },
      "in use");
}

TEST(DiskTable, IsInAFolderOfItsUserAlone) {
  const tests::TemporaryFolder folder;
  const auto mode = [](const fs::path& of) { return fs::status(of).permissions(); };
  const DiskTable table(folder.path() / "t", key_of_tests);
  EXPECT_EQ(mode(folder.path() / "t"), fs::perms::owner_all);
  EXPECT_EQ(mode(folder.path() / "t.lock"), fs::perms::owner_read | fs::perms::owner_write);
}

/// Files of this process end at `bytes` for as long as it lives: a write beyond fails as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    static_cast<void>(std::signal(SIGXFSZ, signal_));
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*signal_)(int);
};

/// A lane without its steps: a store, the state that names how far it is, and a table on disk.
class DiskWorld {
 public:
  explicit DiskWorld(std::uint64_t seed) : random_(seed), disk_(seed) { disk_.make_folder("f"); }

  /// One life of a process, which ends in its own way or between two of the store's writes.
  void live() {
    const bool crashes = random_() % 2 == 0;
    disk_.start_process({crashes ? 1 + random_() % 40 : 0});
    try {
      DiskTable table(folder(), key_of_tests);
      const std::string was = identity();
      const bool kept = is_kept(table, committed_);
      UserLog log = log_over(table);
      log.load(committed_);
      ASSERT_EQ(read(table), plain_);
      ASSERT_EQ(table.size(), plain_.size());
      if (kept && identity() == was) ++kept_;
      if (identity() != was) ++made_anew_;
      for (std::size_t i = random_() % 12; i > 0; --i) commit(log, table);
    } catch (const tests::SimulatedCrash&) {
    }
    disk_.kill_process();
  }
  void commit_once() {
    disk_.start_process({0});
    DiskTable table(folder(), key_of_tests);
    UserLog log = log_over(table);
    log.load(committed_);
    commit(log, table);
  }
  /// What somebody who may write to the folder, or a restored backup, could leave there.
  void tamper() {
    switch (random_() % 8) {
      case 0:
        fs::remove_all(folder());
        break;
      case 1:
        if (fs::exists(older())) copy_folder(older(), folder());
        break;
      case 2:
        copy_folder(folder(), older());
        break;
      case 3:
        fs::remove(any_file());
        break;
      case 4:
        fs::resize_file(any_file(), random_() % 6000);
        break;
      case 5:
      case 6:
        flip(any_file());
        break;
      default:
        break;
    }
  }
  /// Of the database's files: another one once they were made anew.
  [[nodiscard]] std::string identity() const { return tests::read_file(folder() / "IDENTITY"); }
  [[nodiscard]] fs::path folder() const { return temporary_.path() / "table"; }
  [[nodiscard]] fs::path older() const { return temporary_.path() / "older"; }
  [[nodiscard]] UserLog log_over(Standings& table) {
    return {disk_, "f", key_of_tests, {"mine", LaneId{0}}, table, 2000};
  }
  [[nodiscard]] const StoreMark& committed() const { return committed_; }
  [[nodiscard]] const Plain& plain() const { return plain_; }
  [[nodiscard]] int kept() const { return kept_; }
  [[nodiscard]] int made_anew() const { return made_anew_; }

 private:
  fs::path any_file() {
    const std::vector<fs::path> files = files_of(folder());
    return files[random_() % files.size()];
  }
  void flip(const fs::path& file) {
    std::string text = tests::read_file(file);
    if (text.empty()) return;
    char& byte = text[random_() % text.size()];
    byte = static_cast<char>(byte ^ (1 << random_() % 8));
    std::ofstream(file, std::ios::binary) << text;
  }
  void commit(UserLog& log, Standings& table) {
    Changes batch(table);
    Plain next = plain_;
    if (random_() % 15 == 0) {
      static_cast<void>(log.append_epoch({}));
      for (auto& [user, entry] : next) entry.standing = carried_over(entry.standing);
    }
    if (random_() % 15 == 0) {
      batch.empty_table();
      next.clear();
    }
    for (std::size_t i = random_() % 30; i > 0; --i) {
      const Entry entry = random_entry(random_, 400);
      batch.put(entry);
      next[entry.user] = entry;
    }
    const StoreMark mark = log.append(batch);
    log.sync();
    committed_ = mark;  // the state is renamed here
    plain_ = next;
    if (random_() % 20 == 0) throw tests::SimulatedCrash();  // and the table did not take the batch
    log.committed(batch);
    ASSERT_EQ(read(table), plain_);
  }

  tests::TemporaryFolder temporary_;
  std::mt19937_64 random_;
  tests::SimulatedDisk disk_;
  StoreMark committed_;
  Plain plain_;
  int kept_ = 0;
  int made_anew_ = 0;
};

TEST(DiskTable, IsThatOfTheCommittedBatchesWhateverBecameOfItsFolder) {
  int kept = 0;
  int made_anew = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    DiskWorld world(seed);
    for (int life = 0; life < 25; ++life) {
      world.live();
      if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << " life " << life;
      world.tamper();
    }
    kept += world.kept();
    made_anew += world.made_anew();
  }
  EXPECT_GT(kept, 25);
  EXPECT_GT(made_anew, 15);
}

// A copy from before some commits catches up with the store; one of another branch of the same store, which says of
// itself that it is just as far, does not pass.
TEST(DiskTable, OfAnotherHistoryIsMadeAnew) {
  DiskWorld world(3);
  for (int i = 0; i < 4; ++i) world.commit_once();
  std::string other;
  {
    DiskTable table(world.folder(), key_of_tests);
    std::vector<Entry> entries;
    visit_all(table, [&](const Entry& entry) { entries.push_back(entry); });
    ASSERT_GT(entries.size(), 2U);
    entries.front().standing.count += 1;  // the digest alone knows
    const std::string mark = table.mark();
    table.put(std::span(entries).first(1));
    table.settle(entries.size(), mark);
    ASSERT_TRUE(is_kept(table, world.committed()));
    other = world.identity();
  }
  DiskTable table(world.folder(), key_of_tests);
  UserLog log = world.log_over(table);
  log.load(world.committed());
  EXPECT_EQ(read(table), world.plain());
  EXPECT_NE(world.identity(), other);
}

TEST(DiskTableDeathTest, EndsAsOtherKeysDoWhereThereAreNoRandomBits) {
  const tests::TemporaryFolder folder;
  EXPECT_EXIT(tests::exit_with_code_of([&] {
                tests::forbid_getrandom();
                const DiskTable table(folder.path() / "table", key_of_tests);
              }),
              ::testing::ExitedWithCode(77), "");
}

TEST(DiskTable, SaysWhenTheDiskIsFullAndIsMadeAnewBehindThat) {
  DiskWorld world(5);
  for (int i = 0; i < 4; ++i) world.commit_once();
  std::mt19937_64 random(1);
  std::vector<Entry> many;
  for (int i = 0; i < 5000; ++i) many.push_back(random_entry(random, std::uint64_t{1} << 40));
  {
    DiskTable table(world.folder(), key_of_tests);
    const FullDisk full(64 << 10);
    tests::expect_failure(
        Exit::io, [&] { table.put(many); }, "mend the disk or make room");
  }
  DiskTable table(world.folder(), key_of_tests);
  UserLog log = world.log_over(table);
  log.load(world.committed());
  EXPECT_EQ(read(table), world.plain());
}

}  // namespace
}  // namespace nustream::users
