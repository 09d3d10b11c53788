// `nustream estimate` is killed at every named place of the commit protocol, at random moments and between
// independent runs: a descent, and a model that is solved from running sums. When it is resumed, it ends as an
// undisturbed one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "estimate_world.h"
#include "journal/failpoint.h"
#include "random_kills.h"

namespace nustream::tests {
namespace {

/// One run by minibatches; four independent runs that share the budget; running sums of one pass, whose table is one
/// step; and those of ten steps, the last of which is filled up, with a stage that recentres and intervals.
const std::vector<std::vector<std::string>> designs{
    {"--insecure-seed", "4"},
    {"--insecure-seed", "4", "--set", "intervals.kind=runs", "--set", "intervals.count=4", "--set",
     "estimate.steps=5"},
    {"--insecure-seed", "4", "--set", "model.estimator=moments", "--set", "moments.row_norm=3", "--set",
     "moments.residual_bound=3"},
    {"--insecure-seed", "4", "--set", "model.estimator=moments", "--set", "moments.row_norm=3", "--set",
     "moments.residual_bound=3", "--set", "release.every=30", "--set",
     "moments.stages=[{from=120, residual_bound=1}]", "--set", "intervals.kind=sandwich"}};
/// A place is also passed for the seventh time where a run takes so many commits.
constexpr bool has_many_commits(std::size_t design) {
  return design == 0 || design == 3;
}
const std::vector<std::string> key{"--insecure-seed", "4"};

class KilledEstimate : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    ASSERT_EQ(world.run(design, "undisturbed").code, 0);
    expected = world.releases("undisturbed");
    spent = total_rho("undisturbed");
  }
  /// Arguments that begin anew, or resume where there is a state.
  [[nodiscard]] std::vector<std::string> arguments(const std::string& state) const {
    std::vector<std::string> options = design;
    if (world.has_state(state)) options.emplace_back("--resume");
    return world.estimate(options, state);
  }
  [[nodiscard]] double total_rho(const std::string& state) const {
    simdjson::dom::parser parser;
    return world.inspect(parser, state, key)["total_rho"].get_double().value();
  }
  void expect_undisturbed(const std::string& state) const {
    const std::string before = world.releases(state);
    const CommandResult last = run_command(NUSTREAM_COMMAND, arguments(state));
    ASSERT_EQ(last.code, 0) << state << ": " << last.err;
    ASSERT_TRUE(world.releases(state) == expected) << state << ": the releases differ";
    ASSERT_TRUE(expected.compare(0, before.size(), before) == 0) << state << ": something else was readable";
    ASSERT_EQ(total_rho(state), spent) << state;
  }

  const EstimateWorld world;
  const std::vector<std::string>& design = designs[GetParam()];
  std::string expected;
  double spent = 0;
};

TEST_P(KilledEstimate, AtEveryNamedPlaceEndsAsAnUndisturbedRun) {
  for (const std::string_view place : journal::failpoints) {
    if (place.find("rejects") != std::string_view::npos) continue;  // an estimate writes no rejects
    for (const int count : has_many_commits(GetParam()) ? std::vector<int>{1, 7} : std::vector<int>{1}) {
      const std::string state = std::string(place) + std::to_string(count);
      const std::string failpoint = "NUSTREAM_FAILPOINT=" + std::string(place) + ":" + std::to_string(count);
      CommandResult result = run_command(NUSTREAM_FAULTY, arguments(state), {}, {failpoint});
      if (result.code != killed) {  // only a resume passes this place
        result = run_command(NUSTREAM_FAULTY, arguments(state), {}, {failpoint});
      }
      if (count == 1) {
        ASSERT_EQ(result.code, killed) << place << " was not reached";
      }
      expect_undisturbed(state);
    }
  }
}

TEST_P(KilledEstimate, AtRandomMomentsEndsAsAnUndisturbedRun) {
  std::mt19937_64 bits(29);
  const int wanted = std::getenv("NUSTREAM_CAMPAIGN") != nullptr ? 200 : 8;
  int kills = 0;
  for (int attempt = 0; kills < wanted && attempt < 40 * wanted; ++attempt) {
    const std::string state = "random" + std::to_string(attempt);
    kills += kill_three_times(arguments(state), bits);
    ASSERT_NO_FATAL_FAILURE(expect_undisturbed(state));
    std::filesystem::remove_all(world.path(state));
  }
  EXPECT_GE(kills, wanted);
}

INSTANTIATE_TEST_SUITE_P(Designs, KilledEstimate, ::testing::Values(0, 1, 2, 3));

// A run's last act is its flush. Killed after the first, second or third flush, that run is whole and the next one
// has not begun.
TEST(KilledBetweenRuns, GoesOnWithTheNextOne) {
  const EstimateWorld world;
  ASSERT_EQ(world.run(designs[1], "undisturbed").code, 0);
  const std::string expected = world.releases("undisturbed");
  for (int runs = 1; runs <= 3; ++runs) {
    const std::string state = "runs" + std::to_string(runs);
    const std::string failpoint = "NUSTREAM_FAILPOINT=after-flush:" + std::to_string(runs);
    ASSERT_EQ(run_command(NUSTREAM_FAULTY, world.estimate(designs[1], state), {}, {failpoint}).code, killed);
    const std::string before = world.releases(state);
    EXPECT_EQ(std::count(before.begin(), before.end(), '\n'), 5 * runs);
    std::vector<std::string> resume = designs[1];
    resume.emplace_back("--resume");
    ASSERT_EQ(world.run(resume, state).code, 0);
    EXPECT_TRUE(world.releases(state) == expected) << runs;
    simdjson::dom::parser parser;
    const auto shown = world.inspect(parser, state, key);
    EXPECT_EQ(shown["ledger"].get_array().size(), 4U);
    EXPECT_NEAR(shown["total_rho"].get_double().value(), 0.5, 1e-9);
  }
}

}  // namespace
}  // namespace nustream::tests
