// Lives of a store of users in a topic. Old records are compacted away, in any part and at any time, and transactions
// abort. After each life the table is that of the committed batches, or the store is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "expect_failure.h"
#include "users/closing_mark.h"
#include "users/topic_log.h"
#include "users_table.h"

namespace nustream::users {
namespace {

using Plain = tests::PlainUsers;
using tests::read;

/// A partition as a broker keeps it: offsets continue over what was aborted or compacted.
class Topic {
 public:
  void write(const std::vector<journal::KeyedRecord>& records, bool committed) {
    for (const journal::KeyedRecord& record : records) {
      if (committed) records_.emplace(end_, record);
      ++end_;
    }
    ++end_;  // the transaction's own record takes an offset
  }
  /// Compacts up to any offset: only the last record of each key has to stay, and some of the others go.
  void compact(std::mt19937_64& random) {
    const std::uint64_t up_to = random() % (end_ + 1);
    std::set<std::string> later;
    for (auto at = records_.rbegin(); at != records_.rend();) {
      const bool is_old = !later.insert(at->second.key).second && at->first < up_to;
      at = is_old ? std::make_reverse_iterator(records_.erase(std::next(at).base())) : std::next(at);
    }
  }
  [[nodiscard]] TopicLog::ReadFrom reader() const {
    return [this](std::uint64_t from, const TopicLog::Take& take) {
      for (auto at = records_.lower_bound(from); at != records_.end(); ++at) take(at->second.key, at->second.value);
    };
  }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::map<std::uint64_t, journal::KeyedRecord>& records() { return records_; }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [offset, record] : records_) sum += record.value.size();
    return sum;
  }

 private:
  std::map<std::uint64_t, journal::KeyedRecord> records_;
  std::uint64_t end_ = 0;
};

const StoreIdentity mine{"mine", LaneId{1}};

/// A lane reduced to its store, and to the state that says how far the store is.
class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed) {}

  /// One owner of the lane: it rebuilds the table, commits some batches, and is gone.
  void live() {
    Table table;
    TopicLog log(key_, mine, table, division, sizes);
    if (committed_) {
      log.load(*committed_, topic_.end(), topic_.reader());
    } else {
      log.begin(topic_.end());
    }
    ASSERT_EQ(read(table), plain_);
    const std::size_t batches = random_() % 20;
    for (std::size_t i = 0; i < batches; ++i) commit(log, table);
    if (random_() % 2 == 0) topic_.compact(random_);
  }
  /// The message with which a rebuild of the present state is refused; empty where the rebuild succeeds.
  [[nodiscard]] std::string refusal() const {
    Table table;
    TopicLog log(key_, mine, table, division, sizes);
    try {
      log.load(*committed_, topic_.end(), topic_.reader());
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), Exit::data);
      return failure.what();
    }
    return "";
  }
  [[nodiscard]] Topic& topic() { return topic_; }
  [[nodiscard]] std::optional<TopicMark>& committed() { return committed_; }
  std::uint64_t users = 300;
  std::size_t records = 30;
  Division division{2, 1, Partitioner::murmur2};
  LogSizes sizes{.segment_bytes_min = 2000, .entries_max = 7};

 private:
  void commit(TopicLog& log, Table& table) {
    Changes batch(table);
    Plain next = plain_;
    std::vector<journal::KeyedRecord> written;
    if (random_() % 25 == 0) {
      written = log.append_epoch({}).seal().records;
      for (auto& [user, entry] : next) entry.standing = carried_over(entry.standing);
    }
    for (std::size_t i = random_() % records; i > 0; --i) {
      const std::uint64_t user = random_() % users;
      const Entry entry{{user * 0x9e3779b97f4a7c15, user},
                        static_cast<std::uint32_t>(user),
                        {random_() % 1000, static_cast<std::uint32_t>(1 + random_() % 9), 5}};
      batch.put(entry);
      next[entry.user] = entry;
    }
    TopicRecords sealed = log.append(batch).seal();
    std::ranges::move(sealed.records, std::back_inserter(written));
    while (random_() % 5 == 0) topic_.write(written, false);  // an aborted transaction: the same bytes are sent again
    topic_.write(written, true);
    committed_ = decode_topic_mark(encode_mark(sealed.mark));
    plain_ = next;
    // A producer knows the offset of its own last record.
    log.committed(batch, sealed.mark, topic_.end() - 1);
    ASSERT_EQ(read(table), plain_);
  }

  std::mt19937_64 random_;
  UserKey key_{noise::KeyBytes{1}};
  Topic topic_;
  std::optional<TopicMark> committed_;
  Plain plain_;
};

TEST(TopicLog, IsThatOfTheCommittedBatchesWhateverIsCompacted) {
  std::uint64_t segments = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    World world(seed);
    for (int life = 0; life < 60; ++life) {
      world.live();
      if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << " life " << life;
    }
    segments += world.committed()->segment;
  }
  EXPECT_GT(segments, 150U);
}

// However many batches there were, what compaction leaves has the size of a few tables.
TEST(TopicLog, IsBoundedByItsUsers) {
  World world(7);
  world.users = 3'000;
  world.records = 1'000;
  world.sizes = {.segment_bytes_min = 1 << 16, .entries_max = 100};
  std::mt19937_64 random(8);
  std::uint64_t largest = 0;
  for (int life = 0; life < 60; ++life) {
    world.live();
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    for (int time = 0; time < 20; ++time) world.topic().compact(random);
    largest = std::max(largest, world.topic().bytes());
  }
  EXPECT_LE(largest, 10U * (3'000 * entry_bytes + (1U << 16)));
  EXPECT_GE(largest, 3'000U * entry_bytes);
}

/// A world after some batches, whose last two segments are both needed.
World aged(std::uint64_t seed) {
  World world(seed);
  while (!world.committed() || world.committed()->segment < 4) world.live();
  return world;
}

TEST(TopicLog, RefusesAStoreThatLacksARecordOrHasAnotherOne) {
  World world = aged(3);
  ASSERT_EQ(world.refusal(), "");
  const auto whole = world.topic().records();
  std::size_t refused = 0;
  std::size_t needed = 0;
  for (const auto& [offset, record] : whole) {
    if (offset < world.committed()->before.offset) continue;
    if (record_place(record.value).number < world.committed()->before.number) continue;
    ++needed;
    world.topic().records().erase(offset);
    refused += world.refusal().empty() ? 0U : 1U;
    world.topic().records() = whole;
    world.topic().records().at(offset).value[40] ^= 1;
    refused += world.refusal().empty() ? 0U : 1U;
    world.topic().records() = whole;
  }
  EXPECT_GT(needed, 50U);
  // One removal may pass: from the digest of the first record the rebuild may know that later records hold all of it.
  EXPECT_GE(refused, 2 * needed - 1);
}

TEST(TopicLog, RefusesAStateThatIsOlderThanItsStore) {
  World world = aged(4);
  const TopicMark older = *world.committed();
  while (world.committed()->store.commit < older.store.commit + 1) world.live();
  world.committed() = older;
  EXPECT_NE(world.refusal(), "");
}

TEST(TopicLog, TakesNoRecordOfAnotherLane) {
  World world = aged(5);
  for (auto& [offset, record] : world.topic().records()) record.key.replace(0, 7, "mine/0/");
  EXPECT_NE(world.refusal().find("ends at record 0"), std::string::npos) << world.refusal();
}

// The bytes are those in docs/formats/users.md.
TEST(TopicMark, HasTheBytesOfTheFormatPage) {
  const TopicMark mark{{1, 2, 3, SetDigest(4)}, {5, 11, Partitioner::crc32}, 6, {7, 8}, {9, 10}};
  std::string expected;
  for (const std::uint64_t value : {1U, 2U, 3U, 4U, 0U}) secrets::append_integer(value, expected);
  secrets::append_integer(std::uint32_t{5}, expected);
  secrets::append_integer(std::uint32_t{11}, expected);
  secrets::append_integer(std::uint8_t{1}, expected);
  for (const std::uint64_t value : {6U, 7U, 8U, 9U, 10U}) secrets::append_integer(value, expected);
  EXPECT_EQ(encode_mark(mark), expected);
  EXPECT_EQ(decode_topic_mark(expected), mark);
  tests::expect_failure(
      Exit::data, [&] { static_cast<void>(decode_topic_mark(expected.substr(1))); }, "topic");
}

// A lane that was passed over has no store: its mark names the persons who were closed.
TEST(ClosingMark, NamesThoseWhoWereClosed) {
  const UserKey key(noise::KeyBytes{1});
  ClosingMark closing{false, true,  {.division = {2, 3, Partitioner::murmur2}}, {5, 4, Partitioner::crc32},
                      {},    "line"};
  const std::string nobody = seal_closing(key, mine, 3, closing);
  EXPECT_TRUE(open_closing(key, mine, 3, nobody).closed.empty());
  for (std::uint32_t who = 1; who < 4; ++who) closing.closed.push_back({{who, 7 * who}, who, closed({0, who, who})});
  for (const bool all : {true, false}) {
    closing.tells_closed = all;
    const std::string named = seal_closing(key, mine, 3, closing);
    EXPECT_EQ(named.size(), nobody.size() + 4 + 3 * std::size_t{36});
    const ClosingMark opened = open_closing(key, mine, 3, named);
    EXPECT_FALSE(opened.is_known);
    EXPECT_EQ(opened.tells_closed, all);
    EXPECT_EQ(opened.closed, closing.closed);
    EXPECT_EQ(opened.spent, "line");
  }
}

TEST(ClosingMark, IsReadByItsOwnLaneAndChangeAlone) {
  const UserKey key(noise::KeyBytes{1});
  const ClosingMark closing{true,
                            false,
                            {{1, 2, 3, SetDigest(4)}, {2, 3, Partitioner::murmur2}, 6, {7, 8}, {9, 10}},
                            {5, 4, Partitioner::crc32},
                            "@key",
                            "line"};
  const std::string sealed = seal_closing(key, mine, 3, closing);
  const ClosingMark opened = open_closing(key, mine, 3, sealed);
  EXPECT_TRUE(opened.is_known);
  EXPECT_EQ(opened.mark, closing.mark);
  EXPECT_EQ(opened.next, closing.next);
  EXPECT_EQ(opened.identity, "@key");
  EXPECT_EQ(opened.spent, "line");
  EXPECT_EQ(closing_key(mine, 3), "mine/1/users/closed/3");
  EXPECT_EQ(sealed.substr(0, 12), std::string("NUUSCLO\0\1\0\0\0", 12));
  EXPECT_EQ(sealed.find("@key"), std::string::npos);
  const auto refused = [&](const StoreIdentity& identity, std::uint32_t change, const std::string& bytes) {
    tests::expect_failure(
        Exit::data, [&] { static_cast<void>(open_closing(key, identity, change, bytes)); }, "closing");
  };
  refused(mine, 4, sealed);
  refused({"mine", LaneId{0}}, 3, sealed);
  refused({"other", LaneId{1}}, 3, sealed);
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    std::string changed = sealed;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    refused(mine, 3, changed);
    refused(mine, 3, sealed.substr(0, at));
  }
}

}  // namespace
}  // namespace nustream::users
