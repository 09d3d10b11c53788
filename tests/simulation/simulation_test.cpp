// Deterministic simulation: lane, stepper, sealed state and both journals as they are shipped, over a disk and a
// broker that fail as their seed says. Every second history is an attached stream, every second a replay to a folder.
//
// A failure names its seed. To play one again: NUSTREAM_SIMULATION_SEED=123 simulation_test. To play another number
// of them: NUSTREAM_SIMULATION_HISTORIES=5000.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "play.h"

namespace nustream::tests {
namespace {

constexpr std::uint64_t in_ci = 1'000;
constexpr std::uint64_t in_the_campaign = 100'000;

HistoryResult play(std::uint64_t seed) {
  return seed % 2 == 0 ? play_attached(seed) : play_folder(seed);
}

void play_from_to(std::uint64_t first, std::uint64_t end) {
  FaultCounts happened;
  for (std::uint64_t seed = first; seed < end; ++seed) {
    const HistoryResult result = play(seed);
    EXPECT_EQ(result.violation, "") << "NUSTREAM_SIMULATION_SEED=" << seed;
    for (const auto& [what, times] : result.happened) happened[what] += times;
    if (::testing::Test::HasFailure() && std::getenv("NUSTREAM_SIMULATION_ALL") == nullptr) break;
  }
  ::testing::Test::RecordProperty("histories", std::to_string(end - first));
  for (const auto& [what, times] : happened) {
    std::string name = what;
    std::replace(name.begin(), name.end(), ' ', '_');
    ::testing::Test::RecordProperty(name, std::to_string(times));
  }
}

TEST(Simulation, HistoriesUnderFaultsEndAsUndisturbedOnes) {
  if (const char* seed = std::getenv("NUSTREAM_SIMULATION_SEED")) {
    const std::uint64_t one = std::strtoull(seed, nullptr, 10);
    return play_from_to(one, one + 1);
  }
  const char* const asked = std::getenv("NUSTREAM_SIMULATION_HISTORIES");
  const std::uint64_t usual = std::getenv("NUSTREAM_CAMPAIGN") != nullptr ? in_the_campaign : in_ci;
  play_from_to(1, 1 + (asked != nullptr ? std::strtoull(asked, nullptr, 10) : usual));
}

}  // namespace
}  // namespace nustream::tests
