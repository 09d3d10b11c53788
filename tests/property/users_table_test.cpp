// The table of users against std::map, over random histories with hashes that crowd together.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "nustream/users/changes.h"
#include "nustream/users/table.h"
#include "nustream/users/user_index.h"

namespace nustream::users {
namespace {

using Plain = std::map<UserHash, Entry>;

/// One of `many` users whose places crowd together. Some are at the end of the table, where a run of slots goes on at
/// the table's beginning.
UserHash some_user(std::mt19937_64& random, std::uint64_t many) {
  const std::uint64_t number = random() % many;
  const std::uint64_t high[] = {
      0, 1, ~std::uint64_t{0}, ~std::uint64_t{0} << 40, number << 56, number * 0x9e3779b97f4a7c15};
  return {high[number % 6], number / 3};
}

Entry some_entry(std::mt19937_64& random, const UserHash& user, const Plain& known) {
  const auto found = known.find(user);
  const auto number = found == known.end() ? static_cast<std::uint32_t>(random()) : found->second.number;
  return {user,
          number,
          {random(), static_cast<std::uint32_t>(1 + random() % 1000), static_cast<std::uint32_t>(random())}};
}

Plain read(const Table& table) {
  Plain entries;
  for (unsigned part = 0; part < Table::parts; ++part) {
    table.visit_part(part, [&](const Entry& entry) {
      EXPECT_EQ(entry.user.high >> 56, part);
      EXPECT_TRUE(entries.emplace(entry.user, entry).second);
    });
  }
  return entries;
}

TEST(UserIndex, NumbersUsersAsTheyAreMet) {
  std::mt19937_64 random(6);
  UserIndex index;
  std::map<UserHash, std::size_t> plain;
  // Few users of a small or a large index, and many: clear() has one way for few and another for many.
  for (int batch = 0; batch < 3000; ++batch) {
    const std::uint64_t many = 1 + random() % (batch % 100 == 7 ? 3000 : 12);
    for (std::uint64_t i = 0; i < many; ++i) {
      // Half of the users differ in the half of the hash alone that says nothing of their place.
      UserHash user = some_user(random, 3 * many);
      if (random() % 2 == 0) user.low = ~std::uint64_t{0} - random() % 3;
      const auto found = plain.find(user);
      ASSERT_EQ(index.find(user), found == plain.end() ? index.size() : found->second);
      ASSERT_EQ(index.number_of(user), plain.emplace(user, plain.size()).first->second);
    }
    ASSERT_EQ(index.size(), plain.size());
    index.clear();
    for (const auto& [user, number] : plain) ASSERT_EQ(index.find(user), 0U);  // size(): nobody is there
    plain.clear();
  }
}

TEST(UserTable, IsAMap) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 60; ++trial) {
    Table table;
    Plain plain;
    const std::uint64_t many = 1 + random() % 3000;
    for (int i = 0; i < 3000; ++i) {
      const UserHash user = some_user(random, many);
      const auto found = plain.find(user);
      ASSERT_EQ(table.find(user), found == plain.end() ? Standing{} : found->second.standing);
      const Entry entry = some_entry(random, user, plain);
      table.prefetch(user);
      table.put(entry);
      plain[user] = entry;
      if (random() % 2500 == 0) {
        table.clear();
        plain.clear();
      }
      ASSERT_EQ(table.size(), plain.size());
    }
    EXPECT_EQ(read(table), plain);
    EXPECT_GE(table.bytes(), table.size() * Table::slot_bytes * 4 / 3);
  }
}

TEST(UserTable, HasRoomForWhatItWasMadeFor) {
  Table table(10'000);
  const std::size_t bytes = table.bytes();
  std::mt19937_64 random(2);
  for (int i = 0; i < 10'000; ++i) table.put({{random(), random()}, 0, {1, 1, 0}});
  EXPECT_EQ(table.bytes(), bytes);
  EXPECT_LE(bytes, 10'000 * Table::slot_bytes * 14 / 10);
}

TEST(UserTable, MakesRoomWithoutForgetting) {
  Table table;
  std::mt19937_64 random(3);
  Plain plain;
  for (int i = 0; i < 300; ++i) {
    const Entry entry = some_entry(random, {random(), random()}, plain);
    table.put(entry);
    plain[entry.user] = entry;
  }
  table.reserve(5000);
  EXPECT_EQ(table.bytes(), Table(5000).bytes());
  table.reserve(10);
  EXPECT_EQ(table.bytes(), Table(5000).bytes());
  EXPECT_EQ(read(table), plain);
}

TEST(UserTable, ChangesEveryStanding) {
  Table table;
  std::mt19937_64 random(4);
  for (int i = 0; i < 500; ++i)
    table.put({{random(), random()}, 0, {random(), 1 + static_cast<std::uint32_t>(i), 7}});
  table.change_all([](const Standing& standing) { return carried_over(standing); });
  EXPECT_EQ(table.size(), 500U);
  for (const auto& [user, entry] : read(table)) {
    EXPECT_EQ(entry.standing.next, 0U);
    EXPECT_EQ(entry.standing.mass, 7U);
  }
}

// A batch sees its own changes, and nobody else does before the batch commits; a batch that does not commit leaves
// nothing behind.
TEST(UserChanges, AreThoseOfCommittedBatches) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 60; ++trial) {
    Table table;
    Plain committed;
    Changes batch(table);
    Plain open;
    for (int i = 0; i < 2000; ++i) {
      const UserHash user = some_user(random, 200);
      const auto found = open.find(user);
      ASSERT_EQ(batch.find(user), found == open.end() ? Standing{} : found->second.standing);
      const auto before = committed.find(user);
      ASSERT_EQ(table.find(user), before == committed.end() ? Standing{} : before->second.standing);
      const Entry entry = some_entry(random, user, open);
      batch.put(entry);
      open[user] = entry;
      switch (random() % 40) {
        case 0:
          ASSERT_EQ(&batch.all().front(), batch.all().data());
          for (const Change& change : batch.all()) {
            const auto old = committed.find(change.entry.user);
            const bool is_new = batch.emptied() || old == committed.end();
            ASSERT_EQ(change.before, is_new ? Standing{} : old->second.standing);
          }
          batch.apply(table);
          committed = open;
          break;
        case 1:
          batch.forget();
          open = committed;
          break;
        case 2:
          batch.empty_table();
          open.clear();
          break;
        default:
          break;
      }
    }
    EXPECT_EQ(read(table), committed);
  }
}

// Two batches at a time: one is on its way to be committed, and one is open over it. The open batch sees the changes
// of both, and the table has those of the committed batches.
TEST(UserChanges, LieOverThoseOfTheBatchThatIsOnItsWay) {
  std::mt19937_64 random(6);
  for (int trial = 0; trial < 60; ++trial) {
    Table table;
    Changes closed(table);
    Changes open(table, closed);
    Plain committed;
    Plain on_its_way;
    Plain all;
    for (int i = 0; i < 2000; ++i) {
      const UserHash user = some_user(random, 200);
      const auto found = all.find(user);
      ASSERT_EQ(open.find(user), found == all.end() ? Standing{} : found->second.standing);
      const Entry entry = some_entry(random, user, all);
      open.put(entry);
      all[user] = entry;
      if (random() % 100 == 0) {
        open.empty_table();
        all.clear();
      }
      if (random() % 30 != 0) continue;
      for (const Change& change : open.all()) {
        const auto before = on_its_way.find(change.entry.user);
        const bool is_new = open.emptied() || before == on_its_way.end();
        ASSERT_EQ(change.before, is_new ? Standing{} : before->second.standing);
      }
      closed.apply(table);
      committed = on_its_way;
      ASSERT_EQ(read(table), committed);
      closed.take_over(open);
      on_its_way = all;
      ASSERT_TRUE(open.all().empty());
    }
  }
}

// A border leaves the closed persons alone, wherever they were closed: in the table, in the batch on its way or in
// the open batch.
// put() is for entries of tables, whose numbers are masked already; another mask would uncover them.
TEST(UserChanges, MaskTheNumbersOfThoseWhoAreNewAndOfNobodyElse) {
  Table table;
  table.put({{1, 1}, 100, {0, 1, 0}});
  Changes closed(table);
  Changes open(table, closed);
  open.mask_numbers([](const UserHash& user, std::uint32_t number) {
    return number + 1000 + static_cast<std::uint32_t>(user.high);
  });
  const auto once_more = [](Standing standing) {
    ++standing.count;
    return standing;
  };
  for (int time = 0; time < 2; ++time) {
    open.change(UserHash{1, 1}, 7, once_more);
    open.change(UserHash{2, 2}, 8, once_more);
  }
  open.put({{3, 3}, 9, {0, 1, 0}});
  const auto numbers = [&] {
    return std::vector{open.entry_of({1, 1}).number, open.entry_of({2, 2}).number, open.entry_of({3, 3}).number};
  };
  EXPECT_EQ(numbers(), (std::vector<std::uint32_t>{100, 1010, 9}));
  closed.take_over(open);
  open.change(UserHash{2, 2}, 8, once_more);  // of the batch that is on its way
  open.change(UserHash{4, 4}, 8, once_more);
  EXPECT_EQ(numbers(), (std::vector<std::uint32_t>{100, 1010, 9}));
  EXPECT_EQ(open.entry_of({4, 4}).number, 1012U);
  closed.apply(table);
  closed.take_over(open);
  closed.apply(table);
  EXPECT_EQ(table.entry_of({2, 2}), (Entry{{2, 2}, 1010, {0, 3, 0}}));
}

TEST(UserChanges, KeepThoseWhoWereClosedAtABorder) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    Table table;
    Changes on_its_way(table);
    Changes open(table, on_its_way);
    Plain closed_ones;
    for (int i = 0; i < 400; ++i) {
      const UserHash user = some_user(random, 100);
      if (random() % 10 == 0 && !closed_ones.contains(user)) {
        const Entry entry{user, 3, closed(open.find(user))};
        open.put(entry);
        closed_ones[user] = entry;
      } else if (!closed_ones.contains(user)) {
        open.put({user, 3, {random() % 50, 1 + static_cast<std::uint32_t>(random() % 5), 1}});
      }
      if (random() % 40 == 0) {
        on_its_way.apply(table);
        on_its_way.take_over(open);
      }
      if (random() % 60 != 0) continue;
      open.begin_window();
      ASSERT_TRUE(open.emptied());
      for (int other = 0; other < 100; ++other) {
        const UserHash any = some_user(random, 100);
        const auto found = closed_ones.find(any);
        ASSERT_EQ(open.find(any), found == closed_ones.end() ? Standing{} : found->second.standing);
      }
    }
    open.begin_window();
    on_its_way.apply(table);
    on_its_way.take_over(open);
    on_its_way.apply(table);
    EXPECT_EQ(read(table), closed_ones);
  }
}

}  // namespace
}  // namespace nustream::users
