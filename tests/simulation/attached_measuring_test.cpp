// The measuring of an attached stream whose unit is the user, over the simulated broker: whose records are measured,
// what that costs whom, and what is left where a process ends in the middle of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attach/first_records.h"
#include "measured_world.h"
#include "nustream/ranges/columns.h"
#include "nustream/ranges/histogram.h"
#include "nustream/users/placement.h"
#include "users/topic_mark.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

constexpr const char* by_hash = "who";  // users of a column are divided by their hashes

/// The lane of a user, of two.
LaneId lane_of(const MeasuredWorld& world, const std::string& who) {
  const users::UserKey key = users::new_user_key(world.keys, world.asked.stream);
  const users::Partitioner by = config::partitioner_of(world.asked);
  return users::lane_of(by, users::partition_number(by, who, key.hash(who)), 2);
}

/// The table of the first records, as it is measured.
measure::RawTable table_of(MeasuredWorld& world) {
  const users::UserKey key = users::new_user_key(world.keys, world.asked.stream);
  attach::FirstRecords records(world.asked, world.keys, 2, &key, Position{0});
  for (std::int64_t offset = 0; offset < world.broker.end({"input", 0}); ++offset) {
    kafka::Message message;
    message.record = kafka::message_at({"input", 0}, offset);
    records.take(message);
  }
  return records.table();
}

/// How far the counts of octaves of all columns lie apart, in a release of the whole table, in units of counts.
double distance(const measure::RawTable& one, const measure::RawTable& other) {
  const ranges::CountNoise mechanism({2, ranges::octave_bins, privacy::Adjacency::zero_out}, Rho{1});
  const auto sums = [&](const measure::RawTable& table) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::size_t>> by_user;
    for (std::size_t row = 0; row < table.y.size(); ++row) {
      const record::RowUser& user = table.users[row];
      if (!user.is_nobody()) by_user[{user.high, user.low}].push_back(row);
    }
    ranges::UserCounts counts(mechanism);
    for (const auto& [user, rows] : by_user) {
      for (const std::size_t row : rows) {
        counts.add(std::vector{ranges::octave_bin(table.x[row]), ranges::octave_bin(table.y[row])});
      }
      counts.end_user();
    }
    return std::vector(counts.sums().begin(), counts.sums().end());
  };
  const auto here = sums(one);
  const auto there = sums(other);
  double squares = 0;
  for (std::size_t i = 0; i < here.size(); ++i) {
    squares += std::pow(static_cast<double>(here[i] - there[i]) * mechanism.grid().spacing(), 2);
  }
  return std::sqrt(squares);
}

/// What somebody finds in the topics who cannot open a state, and what the state holds beside the measured values and
/// the marks of records.
std::vector<std::string> all_but_values(MeasuredWorld& world) {
  std::vector<std::string> found = world.committed("ledger");
  const journal::State state = world.state();
  const journal::UsersOfState& users = state.record.users.value();
  found.push_back(fmt::format("{} {} {} {} {}", state.identity.epoch.value(), state.identity.steps.value(),
                              state.record.position.value(), state.record.start.value(), state.record.partitions));
  found.push_back(state.record.ledger_epochs);
  found.emplace_back(users.key.begin(), users.key.end());
  found.push_back(users.mark + users.identity);
  found.push_back(std::to_string(world.broker.end({"measured.users", 0})));
  found.push_back(std::to_string(world.broker.end({"measured.releases", 0})));
  return found;
}

TEST(AttachedMeasuring, CommitsWhatItCostsWithTheStreamsKeyAndCountsNobody) {
  MeasuredWorld world({});
  world.write(some_records(700));
  const std::string ranges = world.measure();
  EXPECT_EQ(world.state().record.ranges, ranges);
  EXPECT_EQ(world.state().record.position, Position{MeasuredWorld::measured_records});
  const journal::Ledger ledger = world.ledger();
  ASSERT_EQ(ledger.epochs.size(), 1U);
  const journal::UserSpend& spent = ledger.epochs[0].user.value();
  EXPECT_EQ(spent.limits, users::Limits({{1, 1}}, {}));
  EXPECT_FALSE(spent.carries_over);
  EXPECT_TRUE(ledger.epochs[0].neighbours.of_user);
  EXPECT_NEAR(world.charged(), MeasuredWorld::rho_ranges, 1e-9);
  const journal::State state = world.state();
  const users::TopicMark mark = users::decode_topic_mark(state.record.users.value().mark);
  EXPECT_EQ(mark, (users::TopicMark{.division = {2, 0, users::Partitioner::murmur2}}));
  EXPECT_EQ(state.record.users.value().identity, "@key");
  EXPECT_TRUE(world.committed("users").empty());
  EXPECT_EQ(world.measure(), ranges) << "whoever comes later takes the values";
  EXPECT_EQ(world.committed("state").size(), 1U);
}

// Users of the other lane pay nothing here, so that the lanes together cost a user no more than the dearest does:
// whatever they say, nothing of the measuring moves.
TEST(AttachedMeasuring, NeighboursInAUserOfAnotherLaneCommitTheSame) {
  for (const char* user : {"@key", by_hash}) {
    SCOPED_TRACE(user);
    std::vector<UsersRecord> records = some_records(600);
    MeasuredWorld one({.user = user});
    one.write(records);
    const std::string ranges = one.measure();
    const std::vector<std::string> beside = all_but_values(one);
    std::size_t changed = 0;
    for (UsersRecord& record : records) {
      if (record.who == "0" || lane_of(one, record.who) == lane_zero) continue;
      record.rest = ++changed % 2 == 0 ? "1e9,-1e9" : "";
    }
    ASSERT_GT(changed, 50U);
    MeasuredWorld other({.user = user});
    other.write(records);
    EXPECT_EQ(other.measure(), ranges);
    EXPECT_EQ(all_but_values(other), beside);
  }
}

// The measuring reads of both the same table but for the rows of that user, which are one user's in one of them and
// nobody's in the other. For tables that differ so the room `ranges` proves that no release moves by more than its
// sensitivity; here that is seen of the counts of octaves. Nothing but the values depends on the user.
TEST(AttachedMeasuring, NeighboursInAUserOfTheLaneDifferInOneBoundedContribution) {
  for (const char* user : {"@key", by_hash}) {
    SCOPED_TRACE(user);
    std::vector<UsersRecord> records = some_records(600);
    MeasuredWorld one({.user = user}, 2);
    std::string who = "7";
    while (lane_of(one, who) != lane_zero) who += '7';
    // The user is busy, and far from all others.
    for (std::size_t i = 0; i < records.size(); i += 4) records[i] = {who, "4000,-4000", records[i].milliseconds};
    one.write(records);
    for (UsersRecord& record : records) {
      if (record.who == who) record.rest = "?,?";
    }
    MeasuredWorld other({.user = user}, 2);
    other.write(records);
    other.begin_process();
    const measure::RawTable there = table_of(other);
    one.begin_process();
    const measure::RawTable here = table_of(one);
    ASSERT_EQ(here.y.size(), there.y.size());
    std::set<std::pair<std::uint64_t, std::uint64_t>> names;
    for (std::size_t row = 0; row < here.y.size(); ++row) {
      const auto name_in = [row](const measure::RawTable& table) {
        return std::pair(table.users[row].high, table.users[row].low);
      };
      if (records[row].who != who) {
        EXPECT_EQ(name_in(here), name_in(there));
        EXPECT_TRUE(here.y[row] == there.y[row] || (std::isnan(here.y[row]) && std::isnan(there.y[row])));
        continue;
      }
      EXPECT_TRUE(std::isnan(there.y[row]) && std::isnan(there.x[row]));
      if (!std::isnan(here.y[row])) names.insert(name_in(here));  // an unusable record is nobody's
    }
    EXPECT_EQ(names.size(), 1U) << "all of a user's entries are summed together";
    const double moved = distance(here, there);
    EXPECT_LE(moved, std::sqrt(2.0));
    EXPECT_GT(moved, 1.4) << "the bound is reached: the user has 150 records";
    one.begin_process();
    const std::string ranges = one.measure();
    const std::vector<std::string> beside = all_but_values(one);
    other.begin_process();
    EXPECT_NE(other.measure(), ranges) << "under one noise the values tell";
    EXPECT_EQ(all_but_values(other), beside);
  }
}

// With windows the unit is what a user has in one of them. In the first window the user has records in some bins, in
// the second in others: were both summed and shortened together, then taking one window out would turn a vector of
// length √m, and move the counts by √(2m).
TEST(AttachedMeasuring, UnderWindowsTheUnitIsAUserWithinOneOfThem) {
  MeasuredWorld one({.user = by_hash, .limits = "participations = 3\nperiod = \"PT1H\"\n"}, 2);
  std::string who = "1";
  while (lane_of(one, who) != lane_zero) who += '1';
  std::vector<UsersRecord> records;
  constexpr std::int64_t hour = 3'600'000;
  constexpr std::int64_t begin = 1'700'000'000'000 / hour * hour;
  for (int i = 0; i < 100; ++i) records.push_back({who, "1,1", begin + i});
  for (int i = 0; i < 300; ++i) records.push_back({who, "100,100", begin + hour + i});
  one.write(records);
  for (UsersRecord& record : records) {
    if (record.milliseconds >= begin + hour) record.rest = "?,?";
  }
  MeasuredWorld other({.user = by_hash, .limits = "participations = 3\nperiod = \"PT1H\"\n"}, 2);
  other.write(records);
  const measure::RawTable there = table_of(other);
  one.begin_process();
  const measure::RawTable here = table_of(one);
  EXPECT_LE(distance(here, there), std::sqrt(2.0));
  EXPECT_NE(here.users[0].low, here.users[200].low);
  EXPECT_EQ(here.users[100].low, here.users[399].low);
}

/// Expects that somebody has measured, once, that all who come have these values, and that lane 0 has one key.
void expect_measured_once(MeasuredWorld& world, const std::string& ranges) {
  EXPECT_EQ(world.committed("ledger").size(), 1U);
  EXPECT_EQ(world.committed("state").size(), 1U);
  EXPECT_EQ(world.state().record.ranges, ranges);
  EXPECT_NEAR(world.charged(), MeasuredWorld::rho_ranges, 1e-9);
}

// A process ends at each of its calls to the brokers. The next one finds what was committed, or measures with a key
// and with noise of its own; no reader of aborted transactions finds a value.
TEST(AttachedMeasuring, KilledAtEveryCallItHasMeasuredOnce) {
  int before = 0;
  int behind = 0;
  for (std::uint64_t calls = 1; behind < 3; ++calls) {
    ASSERT_LT(calls, 200U);
    SCOPED_TRACE(calls);
    MeasuredWorld world({.private_noise = true}, calls);
    world.write(some_records(650));
    world.begin_process(calls);
    bool crashed = false;
    try {
      static_cast<void>(world.measure());
    } catch (const SimulatedCrash&) {
      crashed = true;
    }
    world.broker.settle();
    const bool was_committed = !world.broker.committed_values({"measured.state", 0}).empty();
    (was_committed ? behind : before) += crashed ? 1 : 0;
    if (!crashed) ++behind;
    world.begin_process();
    const std::string ranges = world.measure();
    expect_measured_once(world, ranges);
    EXPECT_EQ(world.broker.end({"measured.releases", 0}), 0);
    for (const SimulatedEntry& entry : world.broker.log({"measured.ledger", 0})) {
      if (!entry.value) continue;
      EXPECT_THAT(*entry.value, ::testing::Not(HasSubstr("features.0"))) << "not even aborted";
    }
  }
  EXPECT_GT(before, 3);
}

// Brokers that fail now and then, lost answers among it.
TEST(AttachedMeasuring, UnderFaultsOfTheBrokersItHasMeasuredOnce) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    MeasuredWorld world({.private_noise = true}, seed);
    world.broker.faults = {0.2, 0.05, 0.4, 0.5};
    world.write(some_records(600, seed));
    std::string ranges;
    for (int process = 0; process < 20 && ranges.empty(); ++process) {
      world.begin_process(process < 19 ? 5 + seed : 0);
      try {
        ranges = world.measure();
      } catch (const SimulatedCrash&) {
      }
    }
    world.broker.faults = {};
    expect_measured_once(world, ranges);
    world.begin_process();
    EXPECT_EQ(world.measure(), ranges);
  }
}

}  // namespace
}  // namespace nustream::tests
