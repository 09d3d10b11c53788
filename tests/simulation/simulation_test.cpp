// Deterministic simulation: lane, stepper, sealed state and both journals as they are shipped, over a disk and a
// broker that fail as their seed says. Every second history is an attached stream, and the others replay to a folder.
//
// A failure names its seed, and so does a program that ends or hangs in a history. NUSTREAM_SIMULATION_SEED=123
// simulation_test plays that one again, and NUSTREAM_SIMULATION_HISTORIES=5000 plays another number of histories.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "campaign.h"
#include "expect_faults.h"
#include "faults.h"
#include "nustream/base/error.h"
#include "play.h"
#include "seed_guard.h"

namespace nustream::tests {
namespace {

constexpr std::uint64_t in_ci = 1'000;
constexpr std::uint64_t in_the_campaign = 100'000;
constexpr const char* seed_variable = "NUSTREAM_SIMULATION_SEED";

struct Tally {
  FaultCounts of_folders;
  FaultCounts of_brokers;
  FaultCounts of_lanes;
};

void add(const FaultCounts& happened, FaultCounts& to) {
  for (const auto& [what, times] : happened) to[what] += times;
}

void play_from_to(std::uint64_t first, std::uint64_t end, Tally& tally) {
  for (std::uint64_t seed = first; seed < end; ++seed) {
    const SeedGuard guard(seed_variable, seed);
    const bool attached = seed % 2 == 0;
    const HistoryResult result = attached ? play_attached(seed) : play_folder(seed);
    EXPECT_EQ(result.violation, "") << seed_variable << "=" << seed;
    add(result.happened, attached ? tally.of_brokers : tally.of_folders);
    add(result.stages, tally.of_lanes);
    if (::testing::Test::HasFailure() && std::getenv("NUSTREAM_SIMULATION_ALL") == nullptr) break;
  }
  ::testing::Test::RecordProperty("histories", std::to_string(end - first));
}

void record(const std::string& of, const FaultCounts& happened) {
  for (const auto& [what, times] : happened) {
    std::string name = of + " " + what;
    for (char& letter : name) {
      if (std::string_view(" :->").find(letter) != std::string_view::npos) letter = '_';
    }
    ::testing::Test::RecordProperty(name, std::to_string(times));
  }
}

TEST(Simulation, HistoriesUnderFaultsEndAsUndisturbedOnes) {
  Tally tally;
  const std::uint64_t one = asked(seed_variable, 0);
  const std::uint64_t histories = asked("NUSTREAM_SIMULATION_HISTORIES", campaign() ? in_the_campaign : in_ci);
  const std::uint64_t first = one > 0 ? one : 1;
  play_from_to(first, one > 0 ? one + 1 : 1 + histories, tally);
  record("folder", tally.of_folders);
  record("broker", tally.of_brokers);
  record("lane", tally.of_lanes);
  if (one > 0 || histories < in_ci || HasFailure()) return;
  expect_every_kind(tally.of_folders, counted_of_folders);
  expect_every_kind(tally.of_brokers, counted_of_brokers);
  for (const std::string_view arrow : counted_of_lanes) {
    EXPECT_GT(tally.of_lanes[std::string(arrow)], 0U) << arrow << ": never happened";
  }
}

// However the program ends, it names the seed, which somebody needs to see the end again.
TEST(SeedGuard, NamesTheSeedOfAProgramThatEnds) {
  const auto any = [](int status) { return status != 0; };  // programs under sanitizers end with codes of their own
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    const auto end = [number] {
      const SeedGuard guard(seed_variable, 7);
      ::raise(number);
    };
    EXPECT_EXIT(end(), any, "under way: NUSTREAM_SIMULATION_SEED=7\n");
  }
  const auto break_a_contract = [] {
    const SeedGuard guard(seed_variable, 8);
    NUSTREAM_REQUIRE(false, "a contract that is broken");
  };
  EXPECT_EXIT(break_a_contract(), any, "contract violated(.|\n)*_SEED=8\n");
  const auto hang = [] {
    const SeedGuard guard(seed_variable, 9, 1);
    while (true) ::pause();
  };
  EXPECT_EXIT(hang(), any, "takes too long\nunder way: NUSTREAM_SIMULATION_SEED=9\n");
}

}  // namespace
}  // namespace nustream::tests
