// Lanes that may spend no more, beside lanes that are done or contradicted: which end the process reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "attach_promise.h"
#include "kafka_topics.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> seven_hundred_steps{
    "--until-end",      "--set", "noise.correlation=\"anti-pgd\"", "--set", "noise.horizon=700", "--set",
    "release.every=300"};

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
    EXPECT_EQ(world.releases(1).size(), 3U) << "300, 600, and once 700, where the noise ends";
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

simdjson::dom::element lane_0(const AttachWorld& world, simdjson::dom::parser& parser) {
  const CommandResult inspected = run_command(NUSTREAM_COMMAND, {"inspect", world.config(), "--json"});
  EXPECT_EQ(inspected.code, 0) << inspected.err;
  return parser.parse(inspected.out).at(0).value();
}

// The ledger line of a lane that was killed pays for more steps than the lane took. As long as the lane's state is
// there, the exact number of steps counts.
TEST(AttachReserved, ALostStateIsChargedWhatWasReserved) {
  const std::vector<std::string> settings{"--set", "noise.nu=1e-6",          "--set", "state.commit_records=100",
                                          "-X",    "session.timeout.ms=6000"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), settings.begin(), settings.end());
    return more;
  };
  for (const bool is_lost : {false, true}) {
    SCOPED_TRACE(is_lost);
    const AttachWorld world;
    world.write(AttachWorld::values(600));
    Command service(NUSTREAM_COMMAND, world.attach(with({})));
    wait_until([&] { return ledger_end(world).steps == 600; });
    service.signal(SIGKILL);
    static_cast<void>(service.wait());
    const LedgerEnd end = ledger_end(world);
    EXPECT_EQ(end.reserved, 1024U);
    EXPECT_LE(values_of(world.committed(world.name() + ".ledger")).size(), 12U) << "a doubling each, at most";
    simdjson::dom::parser parser;
    const double taken = lane_0(world, parser)["total_rho"].get_double();
    EXPECT_LT(taken, end.rho);
    if (is_lost) {
      delete_topic(world.direct(), world.name() + ".state");
      create_topic(world.direct(), world.name() + ".state", 1, {{"cleanup.policy", "compact"}});
    }
    world.write(AttachWorld::values(100, 2));
    // Other settings need a new epoch, also behind a state.
    const CommandResult renewed = world.run(with({"--new-epoch", "--until-end", "--set", "descent.clip_norm=2"}));
    ASSERT_EQ(renewed.code, 0) << renewed.err;
    EXPECT_EQ(ledger_end(world).steps, 100U);
    const auto epochs = lane_0(world, parser)["ledger"];
    EXPECT_EQ(epochs.at(0)["rho"].get_double().value(), is_lost ? end.rho : taken);
    EXPECT_EQ(epochs.at(0)["steps"].get_uint64().value(), is_lost ? 1024U : 600U);
  }
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
