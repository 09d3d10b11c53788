// The privacy argument over random configurations: a neighbouring stream under coupled noise shows the same to
// everybody, and the cost of the coupling, ‖C(z' − z)‖, is never more than the mechanism claims.
//
// A failure names its seed. NUSTREAM_COUPLING_SEED=123 coupling_test plays that one again, and
// NUSTREAM_COUPLING_PAIRS=50000 plays another number of pairs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "coupled_pair.h"
#include "expect_faults.h"
#include "faults.h"
#include "play.h"
#include "seed_guard.h"

namespace nustream::tests {
namespace {

constexpr std::uint64_t in_ci = 6'000;
constexpr std::uint64_t in_the_campaign = 1'000'000;
constexpr std::uint64_t pairs_per_settings = 20;
constexpr std::size_t correlations = 10;  ///< the number of names that correlations of random streams have
constexpr std::uint64_t under_faults_in_ci = 100;
constexpr std::uint64_t under_faults_in_the_campaign = 10'000;

/// The number of pairs to play in memory, as NUSTREAM_COUPLING_PAIRS says. For pairs under faults the number is
/// smaller in the usual proportion.
std::uint64_t pairs_asked(std::uint64_t usual_in_ci, std::uint64_t usual_in_the_campaign) {
  if (const char* const asked = std::getenv("NUSTREAM_COUPLING_PAIRS")) {
    return std::max<std::uint64_t>(1, std::strtoull(asked, nullptr, 10) * usual_in_ci / in_ci);
  }
  return std::getenv("NUSTREAM_CAMPAIGN") != nullptr ? usual_in_the_campaign : usual_in_ci;
}

struct Tally {
  std::uint64_t pairs = 0;
  std::uint64_t moved = 0;           ///< pairs in which the record had a gradient
  std::uint64_t seen_unshifted = 0;  ///< of the pairs compared without the shift, those in which the record showed
  std::uint64_t unshifted = 0;
  std::uint64_t of_several_passes = 0;
  std::uint64_t of_several_stages = 0;
  std::uint64_t with_moments = 0;
  std::uint64_t with_batch_means = 0;
  std::uint64_t counting = 0;    ///< pairs that count clipped gradients and whose record moved the count
  std::uint64_t of_targets = 0;  ///< pairs that differ in a private target alone
  std::uint64_t as_files = 0;
  std::uint64_t beside = 0;  ///< pairs that differ in a key or header alone
  std::uint64_t inside = 0;
  std::uint64_t other_commits = 0;
  std::uint64_t going_on = 0;
  std::uint64_t deaths = 0;
  std::uint64_t of_descents = 0;
  std::uint64_t of_sums = 0;             ///< pairs of running sums in which the record moved them
  std::uint64_t behind_recentrings = 0;  ///< those whose record came behind a recentring
  std::uint64_t of_sums_with_instruments = 0;
  std::uint64_t of_sums_of_targets = 0;
  LargestShares shares;
  LargestShares shares_of_sums;
};

void tally_sums(const World& world, const Pair& pair, Tally& tally) {
  const config::Config& config = world.settings->config;
  if (!config.moments || !pair.moved) return;
  ++tally.of_sums;
  tally.behind_recentrings += is_behind_recentring(config, pair.stops.back() + 1) ? 1U : 0U;
  tally.of_sums_with_instruments += config.descent.first_stage ? 1U : 0U;
  tally.of_sums_of_targets += world.stream.target_only ? 1U : 0U;
}

bool moves_the_count(const World& world, const Pair& pair) {
  if (!world.settings->config.descent.counts_clipped) return false;
  return std::ranges::any_of(pair.shifts, [](const auto& shift) { return shift.second.back().front() != 0; });
}

/// What is wrong with the pair; empty where nothing is.
std::string couple(const World& world, std::uint64_t seed, Tally& tally) {
  const Pair pair = draw_pair(world, seed, seed % 16 == 0);
  if (pair.rows.count() != pair.other.count() || pair.rows.count() != pair.here.size() * world.window.passes) {
    return "the number of records depends on a record";
  }
  // The neighbour's processes die at other moments, and may commit at other steps.
  std::mt19937_64 random(seed ^ 0x6a09e667f3bcc908U);
  const bool same_commits = seed % 3 == 0;
  Fate fate = draw_fate(random, same_commits ? pair.fate.commits : draw_commits(random, world));
  const Shown two = run(world, seed, pair.other, pair.shifts, fate);
  if (!show_the_same(pair.shown, two, same_commits))
    return "the coupled neighbour shows something else:\n" + pair.shown.releases + "\n" + two.releases;
  const bool is_sums = world.settings->config.moments.has_value();
  std::string wrong = above_claim(world, pair, is_sums ? tally.shares_of_sums : tally.shares);
  if (!wrong.empty()) return wrong;
  ++tally.pairs;
  tally.moved += pair.moved ? 1U : 0U;
  tally.of_several_passes += pair.stops.size() > 1 ? 1U : 0U;
  tally.of_several_stages += world.claims.encoders.size() > 1 ? 1U : 0U;
  tally.with_moments += world.settings->config.descent.moments ? 1U : 0U;
  tally.counting += moves_the_count(world, pair) ? 1U : 0U;
  tally.with_batch_means += world.stream.batch_means ? 1U : 0U;
  tally.of_targets += world.stream.target_only && pair.moved ? 1U : 0U;
  tally.as_files += pair.as_file ? 1U : 0U;
  tally.beside += pair.beside && pair.moved ? 1U : 0U;
  tally.inside += pair.inside && pair.moved ? 1U : 0U;
  tally.other_commits += fate.commits != pair.fate.commits ? 1U : 0U;
  tally.going_on += world.carried && pair.moved ? 1U : 0U;
  tally.deaths += pair.fate.lost + fate.lost;
  tally.of_descents += is_sums ? 0U : 1U;
  tally_sums(world, pair, tally);
  if (pair.moved && seed % 64 == 0) {
    ++tally.unshifted;
    tally.seen_unshifted += show_the_same(pair.shown, run(world, seed, pair.other, {}, fate), same_commits) ? 0U : 1U;
  }
  return {};
}

/// Treats an exception as something that is wrong with the pair too, so that the pair's seed is told.
std::string couple_or_say(const World& world, std::uint64_t seed, Tally& tally) try {
  return couple(world, seed, tally);
} catch (const std::exception& failure) {
  return failure.what();
}

void record(const char* name, double value) {
  ::testing::Test::RecordProperty(name, fmt::format("{:.6g}", value));
}

void record(const LargestShares& shares) {
  record("largest_share_of_the_claimed_sensitivity", shares.of_sensitivity);
  for (const auto& [correlation, share] : shares.of_spend) {
    std::string name = "largest_share_of_the_running_spend_" + correlation;
    std::replace(name.begin(), name.end(), '-', '_');
    record(name.c_str(), share);
  }
}

TEST(Coupling, NeighboursShowTheSameAtNoMoreThanTheClaimedCost) {
  Tally tally;
  const char* const one = std::getenv("NUSTREAM_COUPLING_SEED");
  const std::uint64_t pairs = pairs_asked(in_ci, in_the_campaign);
  const std::uint64_t first = one != nullptr ? std::strtoull(one, nullptr, 10) : 0;
  std::optional<World> world;
  for (std::uint64_t seed = first; seed < (one != nullptr ? first + 1 : pairs); ++seed) {
    const SeedGuard guard("NUSTREAM_COUPLING_SEED", seed);
    if (!world || seed % pairs_per_settings == 0) {
      world.emplace(seed / pairs_per_settings, 3, true);
      world->draw_beginning(seed / pairs_per_settings);
    }
    const std::string wrong = couple_or_say(*world, seed, tally);
    ASSERT_EQ(wrong, "") << "NUSTREAM_COUPLING_SEED=" << seed << "\n" << world->stream.toml;
  }
  record("pairs", static_cast<double>(tally.pairs));
  record("pairs_that_differ", static_cast<double>(tally.moved));
  record("pairs_of_several_passes", static_cast<double>(tally.of_several_passes));
  record("pairs_of_several_stages", static_cast<double>(tally.of_several_stages));
  record("pairs_with_second_moments", static_cast<double>(tally.with_moments));
  record("pairs_that_move_the_count", static_cast<double>(tally.counting));
  record("pairs_with_batch_means", static_cast<double>(tally.with_batch_means));
  record("pairs_that_differ_in_a_private_target", static_cast<double>(tally.of_targets));
  record("pairs_as_files", static_cast<double>(tally.as_files));
  record("pairs_that_differ_in_key_or_header_alone", static_cast<double>(tally.beside));
  record("pairs_that_differ_inside_a_slice", static_cast<double>(tally.inside));
  record("pairs_with_commits_of_their_own", static_cast<double>(tally.other_commits));
  record("pairs_of_an_epoch_that_goes_on", static_cast<double>(tally.going_on));
  record("processes_that_died", static_cast<double>(tally.deaths));
  record("compared_without_the_shift", static_cast<double>(tally.unshifted));
  record("of_those_that_showed_the_record", static_cast<double>(tally.seen_unshifted));
  record("pairs_of_running_sums", static_cast<double>(tally.of_sums));
  record("pairs_of_running_sums_behind_a_recentring", static_cast<double>(tally.behind_recentrings));
  record("pairs_of_running_sums_with_instruments", static_cast<double>(tally.of_sums_with_instruments));
  record("pairs_of_running_sums_of_private_targets", static_cast<double>(tally.of_sums_of_targets));
  record("largest_share_of_the_claimed_sensitivity_of_sums", tally.shares_of_sums.of_sensitivity);
  record(tally.shares);
  if (one != nullptr) return;
  EXPECT_GT(tally.moved, pairs / 2);
  EXPECT_GT(tally.beside, pairs / 40);
  EXPECT_GT(tally.inside, pairs / 3);
  EXPECT_GT(tally.other_commits, pairs / 2);
  EXPECT_GT(tally.going_on, pairs / 5);
  EXPECT_GT(tally.deaths, pairs / 2);
  EXPECT_GT(tally.of_targets - tally.of_sums_of_targets, tally.of_descents / 200);
  EXPECT_GT(tally.with_moments, tally.of_descents / 20);
  EXPECT_GT(tally.with_batch_means, tally.of_descents / 20);
  EXPECT_GT(tally.counting, tally.of_descents / 60);
  EXPECT_GT(tally.of_sums, pairs / 10);
  EXPECT_GT(tally.behind_recentrings, pairs / 60);
  EXPECT_GT(tally.of_sums_with_instruments, pairs / 60);
  EXPECT_GT(tally.of_sums_of_targets, pairs / 100);
  // Projections hide some records even without the shift.
  EXPECT_GT(tally.seen_unshifted * 2, tally.unshifted);
  EXPECT_GT(tally.shares.of_sensitivity, 0.99);
  EXPECT_GT(tally.shares_of_sums.of_sensitivity, 0.99);
  EXPECT_EQ(tally.shares.of_spend.size(), correlations);
  for (const auto& [correlation, share] : tally.shares.of_spend) {
    // A tree is charged for all of its nodes, as if each were shown: its sums show less than that, and Honaker's show
    // least.
    const bool is_tree = correlation == "tree" || correlation == "honaker";
    EXPECT_GT(share, is_tree ? 0.85 : 0.99) << correlation;
  }
}

/// Plays a neighbour's history, with the shifts that hide the record or without them.
using Play = std::function<PublicHistory(std::uint64_t seed, const World& world, const Texts& texts, const Shifts&)>;

/// Whatever happens on the way, two histories with the same faults have to show the same.
void couple_under_faults(std::uint64_t passes_max, bool as_file, std::span<const std::string_view> kinds,
                         const Play& play) {
  const char* const one_seed = std::getenv("NUSTREAM_COUPLING_SEED");
  const std::uint64_t first = one_seed != nullptr ? std::strtoull(one_seed, nullptr, 10) : 0;
  const std::uint64_t end =
      one_seed != nullptr ? first + 1 : pairs_asked(under_faults_in_ci, under_faults_in_the_campaign);
  std::uint64_t moved = 0;
  std::uint64_t seen_unshifted = 0;
  std::uint64_t rejects_differ = 0;
  LargestShares shares;
  FaultCounts happened;
  for (std::uint64_t seed = first; seed < end; ++seed) {
    SCOPED_TRACE(fmt::format("NUSTREAM_COUPLING_SEED={}", seed));
    const SeedGuard guard("NUSTREAM_COUPLING_SEED", seed);
    const World world(seed + (std::uint64_t{1} << 32), passes_max, !as_file);
    const Pair pair = draw_pair(world, seed, as_file);
    ASSERT_EQ(above_claim(world, pair, shares), "");
    const PublicHistory one = play(seed, world, pair.here, {});
    const PublicHistory two = play(seed, world, pair.there, pair.shifts);
    ASSERT_EQ(one.result.violation + two.result.violation, "");
    ASSERT_EQ(one.log, two.log);
    for (const auto& [what, times] : one.result.happened) happened[what] += times;
    rejects_differ += one.for_operators != two.for_operators ? 1U : 0U;
    if (!pair.moved) continue;
    ++moved;
    seen_unshifted += play(seed, world, pair.there, {}).log != one.log ? 1U : 0U;
  }
  record("pairs", static_cast<double>(end - first));
  record("pairs_that_differ", static_cast<double>(moved));
  record("pairs_whose_rejects_differ", static_cast<double>(rejects_differ));
  record("of_those_that_showed_the_record_without_the_shift", static_cast<double>(seen_unshifted));
  record(shares);
  for (const auto& [what, times] : happened) {
    std::string name = what;
    std::replace(name.begin(), name.end(), ' ', '_');
    record(name.c_str(), static_cast<double>(times));
  }
  if (one_seed == nullptr) {
    EXPECT_GT(moved, (end - first) / 2);
    EXPECT_GT(seen_unshifted * 2, moved);
    EXPECT_GT(rejects_differ, (end - first) / 20);
  }
  // Kinds that such pairs do not have: their keys come from a seed; steps, passes and epochs are counted above; dead
  // letters arrive without a call; and rejects, of which neighbours may have different ones, are compared by
  // themselves. Neighbours that differ in a user have histories of their own.
  std::vector<std::string_view> without{
      "under a fresh key",   "under an insecure seed", "an epoch that goes on", "several passes", "steps",
      "no answer to arrive", "every reject on record"};
  without.insert(without.end(), counted_of_users.begin(), counted_of_users.end());
  without.insert(without.end(), counted_of_sums.begin(), counted_of_sums.end());
  if (end - first >= under_faults_in_the_campaign) expect_every_kind(happened, kinds, without);
}

// The same has to hold at every moment, also for readers of aborted transactions.
TEST(Coupling, NeighboursShowTheSameUnderFaultsOfTheBroker) {
  couple_under_faults(1, false, counted_of_brokers,
                      [](std::uint64_t seed, const World& world, const Texts& texts, const Shifts& shifts) {
                        return play_records(seed, {world.stream, texts, shifts});
                      });
}

TEST(Coupling, NeighboursShowTheSameUnderFaultsOfTheDisk) {
  couple_under_faults(3, true, counted_of_folders,
                      [](std::uint64_t seed, const World& world, const Texts& texts, const Shifts& shifts) {
                        return play_records_in_folder(seed, {world.stream, texts, shifts}, world.window.passes);
                      });
}

}  // namespace
}  // namespace nustream::tests
