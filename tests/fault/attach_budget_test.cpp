// Lanes that may spend no more, beside lanes that are done or contradicted: which end the process reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "attach_promise.h"
#include "kafka_topics.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> seven_hundred_steps{"--until-end", "--set", "noise.correlation=\"anti-pgd\"", "--set",
                                                   "noise.horizon=700"};

TEST(AttachBudget, IsAHardStopWith73BesideALaneThatIsDone) {
  const AttachWorld world(2);
  world.write(AttachWorld::values(300, 1), 0);
  world.write(AttachWorld::values(1000, 2), 1);
  for (int time = 0; time < 2; ++time) {  // a restart does not go on either
    const CommandResult result = world.run(seven_hundred_steps);
    EXPECT_EQ(result.code, 73) << result.err;
    EXPECT_THAT(result.err, HasSubstr("lane 1 stopped: the horizon or the budget is reached"));
    EXPECT_EQ(ledger_end(world, 0).steps, 300U);
    EXPECT_EQ(ledger_end(world, 1).steps, 700U);
    EXPECT_EQ(world.releases(1).size(), 7U);
  }
}

TEST(AttachBudget, OfTheSettingsIsReachedAndNeverCrossed) {
  const AttachWorld world;
  world.write(AttachWorld::values(2000));
  ASSERT_EQ(world.run({"--set", "kafka.stop=500"}).code, 0);
  const std::string budget = fmt::format("privacy.budget={:.17g}", ledger_end(world).rho);
  const CommandResult result = world.run({"--until-end", "--set", budget});
  EXPECT_EQ(result.code, 73) << result.err;
  EXPECT_EQ(ledger_end(world).steps, 500U);
  EXPECT_EQ(world.releases().size(), 5U) << "the last release stays";
}

TEST(AttachBudget, GivesWayToAContradiction) {
  const AttachWorld world(2);
  world.write(AttachWorld::values(300, 1), 0);
  world.write(AttachWorld::values(1000, 2), 1);
  ASSERT_EQ(world.run(seven_hundred_steps).code, 73);
  world.write(AttachWorld::values(200, 3), 0);
  delete_records(world.direct(), world.name(), 0, 400);
  const CommandResult result = world.run(seven_hundred_steps);
  EXPECT_EQ(result.code, 65) << result.err;
  EXPECT_THAT(result.err, HasSubstr("--accept-gap"));
  EXPECT_THAT(result.err, HasSubstr("lane 1 stopped: the horizon or the budget is reached"));
}

}  // namespace
}  // namespace nustream::tests
