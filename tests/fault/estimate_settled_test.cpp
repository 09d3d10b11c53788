// What an estimate says where it shows no interval.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "configured_command.h"
#include "estimate_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Runs `nustream NAME` over the world's table, with batches of one step each.
CommandResult with_batches(const EstimateWorld& world, const std::string& name, const std::string& count) {
  std::vector<std::string> arguments{name, world.config()};
  if (name == "plan") arguments.insert(arguments.end(), {"--records", "290"});
  for (const std::string& setting :
       {"state.directory=" + world.path("of" + count), std::string("intervals.kind=batch-means"),
        std::string("estimate.steps=40"), "intervals.count=" + count}) {
    arguments.insert(arguments.end(), {"--set", setting});
  }
  return run_command(NUSTREAM_COMMAND, arguments);
}

// With fewer than 32 batches the verdict is never that the path has settled. The settings alone tell that.
TEST(EstimateSettled, TooFewBatchesAreSaidByEveryCommand) {
  const EstimateWorld world;
  const std::string few = "intervals.count = 10: fewer than 32 batches never tell whether a path has settled";
  EXPECT_THAT(with_batches(world, "check", "10").out, HasSubstr(few));
  EXPECT_THAT(with_batches(world, "plan", "10").out, HasSubstr(few));
  const CommandResult run = with_batches(world, "estimate", "10");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr(few));
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("path            the path still converges, or is too short to tell: there is no "
                              "interval yet"),
                    Not(HasSubstr("lower"))));
  for (const char* name : {"check", "plan", "estimate"}) {
    const CommandResult enough = with_batches(world, name, "32");
    EXPECT_EQ(enough.code, 0) << enough.err;
    EXPECT_THAT(enough.out + enough.err, Not(HasSubstr("fewer than")));
  }
}

/// Estimates over the world's table under a seed, with intervals of a kind.
JsonOutput by_kind(const EstimateWorld& world, const std::string& kind, int seed,
                   const std::vector<std::string>& settings) {
  std::vector<std::string> arguments{"--insecure-seed", std::to_string(seed), "--json"};
  for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
  for (const char* setting : {"estimate.steps=400", "descent.minibatch=290", "state.commit_seconds=60"}) {
    arguments.insert(arguments.end(), {"--set", setting});
  }
  arguments.insert(arguments.end(), {"--set", "intervals.kind=" + kind});
  JsonOutput found(world.run(arguments, kind + std::to_string(seed)));
  EXPECT_EQ(found.command.code, 0) << found.command.err;
  return found;
}

// Estimates that have long forgotten their start, at a false alarm rate of .06: more than 12 alarms of 60, or 8 of
// 30, come once in 20,000 sets of seeds.
TEST(EstimateSettled, CheckpointsAndRunsOfASettledDescentAreShown) {
  const EstimateWorld world;
  const auto withheld_of = [&](const std::string& kind, int seeds, const std::vector<std::string>& more) {
    int withheld = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
      const JsonOutput found = by_kind(world, kind, seed, more);
      simdjson::dom::element intervals;
      const bool is_shown = found.json["intervals"].get(intervals) == simdjson::SUCCESS;
      EXPECT_EQ(is_shown, found.json["verdict"].get_string().value() == "settled");
      EXPECT_EQ(found.json["status"]["verdict"].get_string().value(), found.json["verdict"].get_string().value());
      EXPECT_EQ(found.json["status"]["false_alarm"].get_double().value(), 0.06);
      withheld += is_shown ? 0 : 1;
    }
    return withheld;
  };
  EXPECT_LE(withheld_of("checkpoints", 60, {}), 12);
  EXPECT_LE(withheld_of("runs", 30, {"intervals.count=4"}), 8);
}

// Steps so short that the start is hardly left: every value lies near the others, and far from the answer.
TEST(EstimateSettled, CheckpointsAndRunsThatStillMoveAreWithheld) {
  const EstimateWorld world;
  for (const char* kind : {"checkpoints", "runs"}) {
    for (int seed = 1; seed <= 5; ++seed) {
      const JsonOutput found = by_kind(world, kind, seed, {"descent.step_size=0.001", "intervals.count=4"});
      simdjson::dom::element intervals;
      EXPECT_NE(found.json["intervals"].get(intervals), simdjson::SUCCESS) << kind << " " << seed;
      EXPECT_NE(found.json["verdict"].get_string().value(), "settled");
    }
  }
}

// Without intervals, too, the released iterates tell. At a false alarm rate of .06 more than 6 alarms of 20 come once
// in 5,000 sets of seeds.
TEST(EstimateSettled, ADefaultEstimateSaysWhetherItHasConverged) {
  const EstimateWorld world;
  int alarms = 0;
  for (int seed = 1; seed <= 20; ++seed) {
    const JsonOutput found = by_kind(world, "none", seed, {"descent.step_size=1"});
    EXPECT_EQ(found.json["status"]["false_alarm"].get_double().value(), 0.06);
    alarms += found.json["verdict"].get_string().value() == "settled" ? 0 : 1;
  }
  EXPECT_LE(alarms, 6);
  const JsonOutput moves = by_kind(world, "none", 21, {"descent.step_size=0.001"});
  EXPECT_EQ(moves.json["verdict"].get_string().value(), "drifting");
  // Ten steps are too few to tell, and the text says so without a word of intervals.
  const CommandResult few =
      run_command(NUSTREAM_COMMAND, {"estimate", world.config(), "--set", "state.directory=" + world.path("few")});
  EXPECT_EQ(few.code, 0) << few.err;
  EXPECT_THAT(few.out, HasSubstr("path            the path still converges, or is too short to tell\n"));
}

// The intercept alone makes a step of 3 too long. A step of .05 is too long for a feature of size 10, which the
// settings do not tell; the iterates then jump to and fro.
TEST(EstimateSettled, StepsBeyondTheStabilityBoundAreTold) {
  const EstimateWorld world;
  EXPECT_EQ(by_kind(world, "none", 1, {"descent.step_size=3"}).json["verdict"].get_string().value(), "diverged");
  EXPECT_EQ(by_kind(world, "checkpoints", 1, {"descent.step_size=3"}).json["verdict"].get_string().value(),
            "diverged");
  const std::vector<std::string> quiet{"features.0.scale=0.1", "privacy.rho=1000"};
  std::vector<std::string> longer = quiet;
  longer.emplace_back("descent.step_size=0.05");
  const JsonOutput swings = by_kind(world, "none", 2, longer);
  EXPECT_EQ(swings.json["verdict"].get_string().value(), "diverged");
  EXPECT_GT(swings.json["status"]["swing"].get_double().value(), 100);
  std::vector<std::string> shorter = quiet;
  shorter.emplace_back("descent.step_size=0.01");
  EXPECT_NE(by_kind(world, "none", 3, shorter).json["verdict"].get_string().value(), "diverged");
}

TEST(EstimateSettled, TooFewReleasedIteratesAreSaidByEveryCommand) {
  const EstimateWorld world;
  const std::vector<std::string> thin{"intervals.kind=runs", "estimate.steps=40", "release.every=10",
                                      "intervals.count=2"};
  for (const char* name : {"check", "plan"}) {
    std::vector<std::string> arguments{name, world.config()};
    if (std::string(name) == "plan") arguments.insert(arguments.end(), {"--records", "290"});
    for (const std::string& setting : thin) arguments.insert(arguments.end(), {"--set", setting});
    EXPECT_THAT(run_command(NUSTREAM_COMMAND, arguments).out,
                HasSubstr("of steps 21 to 40 of a run 2 iterates are released: fewer than 8 never tell"));
  }
}

}  // namespace
}  // namespace nustream::tests
