// There are fewer places than lanes (kafka.max_lanes), and lanes wait for each other. A lane that waits gives its
// place up, so that the one that it waits for can run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach_users_world.h"

namespace nustream::tests {
namespace {

std::vector<std::string> with_places(std::vector<std::string> arguments, int places) {
  const std::string limit = "kafka.max_lanes=" + std::to_string(places);
  for (const std::string& argument : {std::string("--until-end"), std::string("--set"), limit}) {
    arguments.push_back(argument);
  }
  return arguments;
}

void expect_all_is_read(const AttachWorld& world, int lanes) {
  for (int lane = 0; lane < lanes; ++lane) EXPECT_GE(ledger_end(world, lane).steps, 10U) << lane;
}

/// Runs a command for a minute at most. One that waits for ever is ended with code 124.
CommandResult within_a_minute(const std::vector<std::string>& arguments) {
  std::vector<std::string> timed{"60", NUSTREAM_COMMAND};
  timed.insert(timed.end(), arguments.begin(), arguments.end());
  return run_command("/usr/bin/timeout", timed);
}

// Each old lane has to be closed before any new one begins, and all of them wait for the last one.
TEST(AttachMaxLanes, LetUsersChangeLanesOneByOne) {
  for (const std::string_view model : {"", "kafka.model_topic"}) {
    SCOPED_TRACE(model);
    const AttachUsersWorld world(3, "@key");
    std::vector<std::string> more;
    if (!model.empty()) {
      create_topic(world.direct(), world.name() + ".model", 1, {{"cleanup.policy", "compact"}});
      more = {"--set", "kafka.model_topic=\"" + world.name() + ".model\""};
    }
    world.write_keyed(AttachUsersWorld::values_of_users(600));
    const CommandResult first = within_a_minute(world.attach(with_places(more, 1)));
    ASSERT_EQ(first.code, 0) << first.err;
    expect_all_is_read(world, 3);
    world.add_partitions_to_all(4);
    world.write_among(AttachUsersWorld::values_of_users(600, 2), 4);
    more.emplace_back("--new-epoch");
    const CommandResult renewed = within_a_minute(world.attach(with_places(more, 1)));
    ASSERT_EQ(renewed.code, 0) << renewed.err;
    expect_all_is_read(world, 4);
  }
}

// Settings are measured before any lane takes a place.
TEST(AttachMaxLanes, AreEnoughForSettingsThatAreMeasured) {
  const AttachWorld world(2);
  for (const int lane : {0, 1}) world.write(AttachWorld::values(600, 1 + static_cast<std::uint64_t>(lane)), lane);
  const CommandResult result = within_a_minute(world.attach(with_places({"--set", "model.estimator=moments",
                                                                         "--set", "moments.row_norm=private",
                                                                         "--set", "moments.residual_bound=private",
                                                                         "--set", "moments.start=private",
                                                                         "--set", "features.0.center=private",
                                                                         "--set", "features.0.scale=private",
                                                                         "--set", "target.center=private",
                                                                         "--set", "target.scale=private",
                                                                         "--set", "privacy.rho=20",
                                                                         "--set", "ranges.records=600"},
                                                                        1)));
  ASSERT_EQ(result.code, 0) << result.err;
  for (const int lane : {0, 1}) EXPECT_EQ(ledger_end(world, lane).to, 600U) << lane;
}

}  // namespace
}  // namespace nustream::tests
