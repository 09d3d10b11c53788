// The privacy argument where the unit is the user: a neighbouring stream that differs in all records of one user
// shows the same under coupled noise, and the coupling never costs more than the limits claim.
//
// A failure names its seed. NUSTREAM_COUPLING_SEED=123 coupling_test --gtest_filter='CoupledUsers.*' plays that one
// again, NUSTREAM_COUPLING_PAIRS=50000 plays another number of pairs, and NUSTREAM_COUPLING_FIRST=50000 those behind
// it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <optional>

#include <fmt/format.h>

#include "campaign.h"
#include "coupled_users.h"
#include "seed_guard.h"

namespace nustream::tests {
namespace {

constexpr std::uint64_t users_in_ci = 4'000;
constexpr std::uint64_t users_in_the_campaign = 1'000'000;
constexpr std::uint64_t users_per_settings = 20;

struct TallyOfUsers {
  std::uint64_t pairs = 0;
  std::uint64_t moved = 0;
  std::uint64_t several_times = 0;  ///< the user moved the sums of several steps
  std::uint64_t within_windows = 0;
  std::uint64_t of_sums = 0;
  std::uint64_t replaced = 0;
  std::uint64_t unshifted = 0;
  std::uint64_t seen_unshifted = 0;
  std::uint64_t deaths = 0;
  /// Under limits by count; the next two: by a mass up to 1, and above, which no pattern reaches.
  LargestShares counted;
  LargestShares small_mass;
  LargestShares large_mass;
};

LargestShares& shares_of(const WorldOfUsers& world, TallyOfUsers& tally) {
  if (!world.limits().mass()) return tally.counted;
  return world.limits().mass()->value() <= 1 ? tally.small_mass : tally.large_mass;
}

/// What is wrong with the pair; empty where nothing is.
std::string couple(const WorldOfUsers& world, std::uint64_t seed, TallyOfUsers& tally) {
  const PairOfUsers pair = draw_pair(world, seed);
  if (pair.rows.count() != pair.other.count()) return "the number of records depends on a user";
  std::mt19937_64 random(seed ^ 0x6a09e667f3bcc908U);
  const bool same_commits = seed % 3 == 0;
  std::vector<std::uint64_t> commits = pair.fate.commits;
  if (!same_commits) commits = {1 + random() % pair.steps, pair.steps};
  commits.erase(std::unique(commits.begin(), commits.end()), commits.end());
  Fate fate = draw_fate(random, commits);
  const ShownOfUsers two = run(world, seed, pair.other, pair.shifts, fate);
  if (!show_the_same(pair.here.shown, two.shown, same_commits)) {
    return "the coupled neighbour shows something else:\n" + pair.here.shown.releases + "\n" + two.shown.releases;
  }
  if (!others_stand_alike(pair, pair.here.users, two.users)) return "a user changed what another one may do";
  std::string wrong = above_claim(*world.settings, world.claims, pair.shifts, pair.steps, shares_of(world, tally));
  if (!wrong.empty()) return wrong;
  ++tally.pairs;
  tally.moved += pair.contributions > 0 ? 1U : 0U;
  tally.several_times += pair.contributions > 1 ? 1U : 0U;
  tally.within_windows += world.limits().windows() && pair.contributions > 0 ? 1U : 0U;
  tally.of_sums += world.settings->config.moments && pair.contributions > 0 ? 1U : 0U;
  tally.replaced += world.settings->config.privacy.adjacency == privacy::Adjacency::replace_one ? 1U : 0U;
  tally.deaths += pair.fate.lost + fate.lost;
  if (pair.contributions > 0 && seed % 64 == 0) {
    ++tally.unshifted;
    tally.seen_unshifted +=
        show_the_same(pair.here.shown, run(world, seed, pair.other, {}, fate).shown, same_commits) ? 0U : 1U;
  }
  return {};
}

/// Treats an exception as something that is wrong with the pair too, so that the pair's seed is told.
std::string couple_or_say(const WorldOfUsers& world, std::uint64_t seed, TallyOfUsers& tally) try {
  return couple(world, seed, tally);
} catch (const std::exception& failure) {
  return failure.what();
}

void record_share(const char* name, const LargestShares& shares) {
  ::testing::Test::RecordProperty(name, fmt::format("{:.6g}", shares.of_sensitivity));
}

TEST(CoupledUsers, ShowTheSameAtNoMoreThanTheirLimitsClaim) {
  TallyOfUsers tally;
  const char* const one = std::getenv("NUSTREAM_COUPLING_SEED");
  const std::uint64_t pairs = asked("NUSTREAM_COUPLING_PAIRS", campaign() ? users_in_the_campaign : users_in_ci);
  const std::uint64_t first = asked(one != nullptr ? "NUSTREAM_COUPLING_SEED" : "NUSTREAM_COUPLING_FIRST", 0);
  std::optional<WorldOfUsers> world;
  for (std::uint64_t seed = first; seed < first + (one != nullptr ? 1 : pairs); ++seed) {
    const SeedGuard guard("NUSTREAM_COUPLING_SEED", seed);
    if (!world || seed % users_per_settings == 0) world.emplace(seed / users_per_settings);
    const std::string wrong = couple_or_say(*world, seed, tally);
    ASSERT_EQ(wrong, "") << "NUSTREAM_COUPLING_SEED=" << seed << "\n" << world->toml;
  }
  const auto record = [](const char* name, std::uint64_t value) {
    ::testing::Test::RecordProperty(name, fmt::format("{:.6g}", static_cast<double>(value)));
  };
  record("pairs", tally.pairs);
  record("pairs_that_differ", tally.moved);
  record("pairs_that_differ_in_several_steps", tally.several_times);
  record("pairs_within_windows", tally.within_windows);
  record("pairs_of_running_sums", tally.of_sums);
  record("pairs_with_another_user", tally.replaced);
  record("processes_that_died", tally.deaths);
  record("compared_without_the_shift", tally.unshifted);
  record("of_those_that_showed_the_user", tally.seen_unshifted);
  record_share("largest_share_of_the_claimed_sensitivity_by_count", tally.counted);
  record_share("largest_share_of_the_claimed_sensitivity_of_mass_up_to_1", tally.small_mass);
  record_share("largest_share_of_the_claimed_sensitivity_of_larger_mass", tally.large_mass);
  if (one != nullptr) return;
  EXPECT_GT(tally.moved, pairs / 2);
  EXPECT_GT(tally.several_times, pairs / 4);
  EXPECT_GT(tally.within_windows, pairs / 10);
  EXPECT_GT(tally.of_sums, pairs / 10);
  EXPECT_GT(tally.replaced, pairs / 4);
  EXPECT_GT(tally.deaths, pairs / 4);
  EXPECT_GT(tally.seen_unshifted * 2, tally.unshifted);
  EXPECT_GT(tally.counted.of_sensitivity, .99);
  EXPECT_GT(tally.small_mass.of_sensitivity, .99);
  EXPECT_GT(tally.large_mass.of_sensitivity, .5);
}

}  // namespace
}  // namespace nustream::tests
