// What an estimate says where it shows no interval.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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

}  // namespace
}  // namespace nustream::tests
