// Sums by user, over random records and limits: how far one user moves them, and that it moves nobody else's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/users/contribution.h"
#include "nustream/users/sensitivity.h"
#include "property/privacy_brute_force.h"

namespace nustream::users {
namespace {

struct Record {
  std::uint64_t user;
  std::vector<double> entries;
};
using Steps = std::vector<std::vector<Record>>;
/// What each step adds, in units of the grid.
using Sums = std::vector<std::vector<std::int64_t>>;

struct World {
  std::vector<ContributionBlock> blocks;
  Limits limits;
};

UserHash hash_of(std::uint64_t user) {
  return {user * 0x9e3779b97f4a7c15, user};
}

/// `counts`: how many clipped contributions each step counts.
Sums run(const World& world, const Steps& steps, Table& table, std::vector<std::uint64_t>* counts = nullptr) {
  std::size_t entries = 0;
  for (const ContributionBlock& block : world.blocks) entries += block.entries;
  StepContributions contributions(world.blocks, world.limits);
  Changes users(table);
  Sums sums;
  std::uint64_t counted = 0;
  for (std::size_t t = 0; t < steps.size(); ++t) {
    contributions.begin(StepIndex{t});
    for (const Record& record : steps[t]) {
      if (!contributions.takes_part(hash_of(record.user), users)) continue;
      contributions.add(hash_of(record.user), 0, record.entries);
    }
    std::vector<std::int64_t> units(entries);
    contributions.settle(users, units);
    sums.push_back(units);
    if (counts != nullptr) counts->push_back(contributions.clipped_in_full() - counted);
    counted = contributions.clipped_in_full();
    if (t % 3 == 0) users.apply(table);
  }
  users.apply(table);
  return sums;
}

World some_world(std::mt19937_64& random) {
  const privacy::Participation participation{1 + random() % 4, 1 + random() % 3};
  const Mass mass{.25 * static_cast<double>(1 + random() % 16)};
  const Limits limits[] = {{participation, {}}, {{}, mass}, {participation, mass}};
  std::vector<ContributionBlock> blocks{{1 + random() % 4, 1.5, 0x1p-30}};
  if (random() % 2 == 0) blocks.push_back({1 + random() % 3, .01, 0x1p-20});
  return {blocks, limits[random() % 3]};
}

Record some_record(std::mt19937_64& random, std::uint64_t user, const World& world) {
  std::normal_distribution<double> normal;
  const double scales[] = {1e-3, 1, 1, 50, 1e200};
  Record record{user, {}};
  for (const ContributionBlock& block : world.blocks) {
    const double scale = scales[random() % 5] * block.bound;
    for (std::size_t j = 0; j < block.entries; ++j) record.entries.push_back(scale * normal(random));
  }
  if (random() % 15 == 0) record.entries[0] = std::numeric_limits<double>::quiet_NaN();
  return record;
}

Steps some_steps(std::mt19937_64& random, const World& world) {
  Steps steps(2 + random() % 7);
  for (auto& step : steps) {
    const std::size_t records = random() % 7;
    for (std::size_t i = 0; i < records; ++i) step.push_back(some_record(random, 1 + random() % 4, world));
  }
  return steps;
}

Steps without(std::uint64_t user, Steps steps) {
  for (auto& step : steps) std::erase_if(step, [&](const Record& record) { return record.user == user; });
  return steps;
}

/// The largest ‖units·s‖/bound of any block, in arithmetic that is exact but for the last roundings.
long double length(const World& world, const std::vector<std::int64_t>& units) {
  long double largest = 0;
  std::size_t at = 0;
  for (const ContributionBlock& block : world.blocks) {
    long double squares = 0;
    for (std::size_t j = 0; j < block.entries; ++j, ++at) {
      const long double entry = static_cast<long double>(units[at]) * block.spacing;
      squares += entry * entry;
    }
    largest = std::max(largest, std::sqrt(squares) / block.bound);
  }
  return largest;
}

// The neighbour lacks one user. The difference in each step is one contribution of that user; its length and its
// pattern are within the user's limits, and it is no longer under any encoder than the sensitivity says.
TEST(UserContributions, OfTwoNeighboursDifferAsTheLimitsSay) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 1500; ++trial) {
    const World world = some_world(random);
    const Steps steps = some_steps(random, world);
    Table with_user;
    Table without_user;
    const Sums all = run(world, steps, with_user);
    const Sums others = run(world, without(1, steps), without_user);
    std::vector<std::uint64_t> taken;
    std::vector<long double> norms;
    for (std::size_t t = 0; t < steps.size(); ++t) {
      std::vector<std::int64_t> moved(all[t].size());
      for (std::size_t j = 0; j < moved.size(); ++j) moved[j] = all[t][j] - others[t][j];
      norms.push_back(length(world, moved));
      EXPECT_LE(norms.back(), 1);
      if (norms.back() > 0) taken.push_back(t);
    }
    if (world.limits.participation()) {
      EXPECT_LE(taken.size(), world.limits.participation()->times());
      for (std::size_t i = 1; i < taken.size(); ++i) {
        EXPECT_GE(taken[i] - taken[i - 1], world.limits.participation()->separation());
      }
    }
    long double mass = 0;
    for (const long double norm : norms) mass += norm;
    if (world.limits.mass()) {
      EXPECT_LE(mass, world.limits.mass()->value());
    }
    const noise::Correlation correlation{noise::NuFtrl{Damping{.1}, StepCount{steps.size()}}};
    const auto products = privacy::brute_force::encoder_products(correlation, steps.size());
    long double squared = 0;
    for (std::size_t i = 0; i < norms.size(); ++i) {
      for (std::size_t j = 0; j < norms.size(); ++j) squared += norms[i] * norms[j] * products[i][j];
    }
    const double claimed = sensitivity(correlation, StepCount{steps.size()}, world.limits).value();
    EXPECT_LE(std::sqrt(squared), claimed * (1 + 1e-15L));
    for (const std::uint64_t other : {2U, 3U, 4U}) {
      EXPECT_EQ(with_user.find(hash_of(other)), without_user.find(hash_of(other)));
    }
  }
}

// The user whom the neighbour lacks moves the count of each step by 0 or 1, in a pattern within its limits, and by no
// more than its mass in all. This holds also where the rest of the mass takes a clipped contribution in part.
TEST(UserContributions, CountAsClippedWhatTheLimitsTakeInFull) {
  std::mt19937_64 random(11);
  int counted = 0;
  int in_part = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const World world = some_world(random);
    const Steps steps = some_steps(random, world);
    Table with_user;
    Table without_user;
    std::vector<std::uint64_t> all;
    std::vector<std::uint64_t> others;
    static_cast<void>(run(world, steps, with_user, &all));
    static_cast<void>(run(world, without(1, steps), without_user, &others));
    std::vector<std::uint64_t> taken;
    for (std::size_t t = 0; t < steps.size(); ++t) {
      ASSERT_GE(all[t], others[t]);
      ASSERT_LE(all[t] - others[t], 1U);
      if (all[t] > others[t]) taken.push_back(t);
    }
    if (const auto& participation = world.limits.participation()) {
      EXPECT_LE(taken.size(), participation->times());
      for (std::size_t i = 1; i < taken.size(); ++i) EXPECT_GE(taken[i] - taken[i - 1], participation->separation());
    }
    if (const auto& mass = world.limits.mass()) {
      EXPECT_LE(static_cast<double>(taken.size()), mass->value());
      if (mass->value() < 1) ++in_part;
    }
    counted += static_cast<int>(taken.size());
  }
  EXPECT_GT(counted, 1000);
  EXPECT_GT(in_part, 100);
}

/// The same step as the definition reads: a map of sums, in doubles throughout.
std::vector<double> plain_step(const World& world, const std::vector<Record>& records, std::size_t step,
                               std::map<std::uint64_t, Standing>& users) {
  std::map<std::uint64_t, std::vector<double>> sums;
  for (const Record& record : records) {
    if (!sums.contains(record.user) && !may_contribute(world.limits, users[record.user], StepIndex{step})) continue;
    if (std::ranges::any_of(record.entries, [](double entry) { return std::isnan(entry); })) continue;
    auto& sum = sums[record.user];
    sum.resize(record.entries.size());
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += record.entries[j];
  }
  std::vector<double> added(records.empty() ? 0 : records[0].entries.size());
  for (auto& [user, sum] : sums) {
    double largest = 0;
    std::size_t at = 0;
    for (const ContributionBlock& block : world.blocks) {
      double squares = 0;
      for (std::size_t j = 0; j < block.entries; ++j)
        squares += sum[at + j] / block.bound * (sum[at + j] / block.bound);
      const double norm = std::sqrt(squares);
      for (std::size_t j = 0; j < block.entries; ++j) sum[at + j] /= std::max(1.0, norm);
      largest = std::max(largest, std::min(1.0, norm));
      at += block.entries;
    }
    const Charge charged = charge(world.limits, users[user], StepIndex{step}, largest);
    users[user] = charged.after;
    const double scale = largest > 0 ? charged.allowed / largest : 0;
    for (std::size_t j = 0; j < sum.size(); ++j) added[j] += scale * sum[j];
  }
  return added;
}

TEST(UserContributions, AreThoseOfTheirPlainTwin) {
  std::mt19937_64 random(8);
  for (int trial = 0; trial < 500; ++trial) {
    World world = some_world(random);
    for (ContributionBlock& block : world.blocks) block.spacing = 0x1p-40;
    Steps steps = some_steps(random, world);
    for (auto& step : steps) {  // the squares of the twin overflow
      for (Record& record : step) {
        for (double& entry : record.entries) entry = std::fmod(entry, 1e6);
      }
    }
    Table table;
    const Sums sums = run(world, steps, table);
    std::map<std::uint64_t, Standing> users;
    for (std::size_t t = 0; t < steps.size(); ++t) {
      const std::vector<double> plain = plain_step(world, steps[t], t, users);
      for (std::size_t j = 0; j < plain.size(); ++j) {
        EXPECT_NEAR(static_cast<double>(sums[t][j]) * 0x1p-40, plain[j], 1e-8) << t << ' ' << j;
      }
    }
    for (const auto& [user, standing] : users) EXPECT_EQ(table.find(hash_of(user)).count, standing.count);
  }
}

TEST(UserContributions, AreClippedAsAWholeNotRecordByRecord) {
  const World world{{{2, 1, 0x1p-30}}, {privacy::Participation{1, 1}, {}}};
  const Steps steps{{{1, {100, 0}}, {1, {-100, .5}}}, {{1, {1, 1}}}};
  Table table;
  const Sums sums = run(world, steps, table);
  EXPECT_EQ(sums[0][0], 0);
  // If each record were clipped by itself, this would be .005.
  EXPECT_NEAR(static_cast<double>(sums[0][1]) * 0x1p-30, .5, 1e-8);
  EXPECT_EQ(sums[1], (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(table.find(hash_of(1)).count, 1U);
}

TEST(UserContributions, UseNothingUpWhereARecordIsUnusable) {
  const World world{{{1, 1, 0x1p-30}}, {privacy::Participation{1, 1}, {}}};
  Table table;
  const Sums sums = run(world, {{{1, {std::numeric_limits<double>::infinity()}}}, {{1, {.25}}}}, table);
  EXPECT_EQ(sums[0][0], 0);
  EXPECT_EQ(sums[1][0], std::int64_t{1} << 28);
}

TEST(UserContributions, AreChargedInFullWhereTheSumOverflows) {
  const World world{{{1, 1, 0x1p-30}}, {{}, Mass{1}}};
  Table table;
  const Sums sums = run(world, {{{1, {1.5e308}}, {1, {1.5e308}}}, {{1, {.25}}}}, table);
  EXPECT_EQ(sums[0][0], 0);
  EXPECT_EQ(sums[1][0], 0);
  EXPECT_EQ(table.find(hash_of(1)).mass, mass_units);
}

TEST(UserContributions, RefuseBlocksOutOfRange) {
  const Limits limits{privacy::Participation{1, 1}, {}};
  EXPECT_THROW(StepContributions({}, limits), InvalidParameter);
  EXPECT_THROW(StepContributions({{0, 1, .5}}, limits), InvalidParameter);
  EXPECT_THROW(StepContributions({{1, 0, .5}}, limits), InvalidParameter);
  EXPECT_THROW(StepContributions({{1, 1, .3}}, limits), InvalidParameter);
  EXPECT_THROW(StepContributions({{1, 1, 0x1p-52}}, limits), InvalidParameter);
}

}  // namespace
}  // namespace nustream::users
