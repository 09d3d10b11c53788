// Topics have fewer partitions than the input: the lanes that lack theirs are named and wait, and the others go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach_promise.h"
#include "operator_listener.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A stream over three partitions, where one of its topics has two.
class LackingPartitions : public ::testing::TestWithParam<const char*> {
 protected:
  LackingPartitions() {
    const std::string topic = world_.name() + GetParam();
    delete_topic(world_.direct(), topic);
    TopicSettings settings;
    if (topic.ends_with(".state")) settings["cleanup.policy"] = "compact";
    if (topic.ends_with(".ledger")) settings["retention.ms"] = "-1";
    create_topic(world_.direct(), topic, 2, settings);
    for (int p = 0; p < 3; ++p) world_.write(AttachWorld::values(300, static_cast<std::uint64_t>(p) + 1), p);
  }
  [[nodiscard]] std::uint64_t steps(int partition) const { return ledger_end(world_, partition).steps; }
  void expect_named(const std::string& text) const {
    EXPECT_THAT(text,
                AllOf(HasSubstr("warning: topic '" + world_.name() + GetParam() + "'"),
                      HasSubstr("nustream: lane 2 waits: topic '" + world_.name() + GetParam() +
                                "' has 2 partitions, and lane 2 needs one of its own: raise their number to 3")));
  }

  const AttachWorld world_{3};
};

TEST_P(LackingPartitions, KeepTheirLanesWaitingUntilTheyAreAddedAndNoOther) {
  const std::string address = some_operator_address();
  Command service(NUSTREAM_COMMAND, world_.attach({"--set", "state.commit_seconds=0.1", "--set",
                                                   "serve.operator_address=\"" + address + "\""}));
  wait_until([&] { return steps(0) == 300 && steps(1) == 300; });
  EXPECT_THAT(operator_page(address, "/readyz"),
              AllOf(HasSubstr("lane 2"), HasSubstr("waiting"), HasSubstr(GetParam())));
  add_partitions(world_.direct(), world_.name() + GetParam(), 3);
  wait_until([&] { return steps(2) == 300; });
  service.signal(SIGTERM);
  const CommandResult result = service.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  expect_named(result.err);
  for (int p = 0; p < 3; ++p) expect_each_step_once(world_.releases(p));
}

TEST_P(LackingPartitions, EndABoundedRunWith78OnceTheOthersAreDone) {
  const CommandResult result = world_.run({"--until-end"});
  EXPECT_EQ(result.code, 78) << result.err;
  expect_named(result.err);
  EXPECT_EQ(steps(0), 300U);
  EXPECT_EQ(steps(1), 300U);
  add_partitions(world_.direct(), world_.name() + GetParam(), 3);
  EXPECT_EQ(world_.run({"--until-end"}).code, 0);
  EXPECT_EQ(steps(2), 300U);
}

INSTANTIATE_TEST_SUITE_P(Topics, LackingPartitions, ::testing::Values(".state", ".dead"),
                         [](const auto& tested) { return std::string(tested.param).substr(1); });

class LackingPartitionsOf : public LackingPartitions {};

TEST_P(LackingPartitionsOf, AnyTopicAreNamed) {
  const CommandResult result = world_.run({"--until-end"});
  EXPECT_EQ(result.code, 78) << result.err;
  expect_named(result.err);
}

INSTANTIATE_TEST_SUITE_P(Topics, LackingPartitionsOf, ::testing::Values(".ledger", ".releases"),
                         [](const auto& tested) { return std::string(tested.param).substr(1); });

// A partition that came later begins at its first record, also where lane 0 has begun a new epoch since: the stream
// remembers how many partitions there were when it began.
TEST(LaterPartitions, BeginAtTheirFirstRecordAfterANewEpochOfLaneZero) {
  for (const bool state_is_lost : {false, true}) {
    SCOPED_TRACE(state_is_lost);
    const AttachWorld world;
    const std::vector<std::string> latest{"--until-end", "--set", "kafka.start=\"latest\""};
    ASSERT_EQ(world.run(latest).code, 0);
    add_partitions(world.direct(), world.name(), 2);
    world.write(AttachWorld::values(200), 0);
    world.write(AttachWorld::values(300), 1);
    if (state_is_lost) {
      delete_topic(world.direct(), world.name() + ".state");
      create_topic(world.direct(), world.name() + ".state", 1, {{"cleanup.policy", "compact"}});
    }
    std::vector<std::string> renewed{"--new-epoch", "--set", "descent.step_size=0.02"};
    renewed.insert(renewed.end(), latest.begin(), latest.end());
    const CommandResult first = world.run(renewed);
    EXPECT_EQ(first.code, 78) << first.err;  // lane 1 waits for its partitions
    EXPECT_EQ(ledger_end(world, 0).steps, 200U);
    for (const char* topic : {".releases", ".state", ".ledger", ".dead"}) {
      add_partitions(world.direct(), world.name() + topic, 2);
    }
    renewed.erase(renewed.begin());
    const CommandResult second = world.run(renewed);
    EXPECT_EQ(second.code, 0) << second.err;
    EXPECT_EQ(ledger_end(world, 1).steps, 300U) << "records were skipped";
  }
}

// Partitions are added while the service runs. It sees them and begins each lane at its first record, although the
// stream began at the latest. Each lane has a key of its own: the same records under the same settings share no
// noise.
TEST(LaterPartitions, BecomeLanesOfARunningService) {
  const AttachWorld world;
  Command service(NUSTREAM_COMMAND,
                  world.attach({"--set", "kafka.start=\"latest\"", "--set", "state.commit_seconds=0.1", "-X",
                                "topic.metadata.refresh.interval.ms=500"}));
  wait_until([&] { return !world.committed(world.name() + ".state").empty(); });
  const std::vector<std::string> values = AttachWorld::values(300);
  world.write(values, 0);
  wait_until([&] { return ledger_end(world, 0).steps == 300; });
  for (const char* topic : {".releases", ".state", ".ledger", ".dead", ""}) {
    add_partitions(world.direct(), world.name() + topic, 2);
  }
  world.write(values, 1);
  wait_until([&] { return ledger_end(world, 1).steps == 300; });
  service.signal(SIGTERM);
  const CommandResult result = service.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> first = world.releases(0);
  const std::vector<std::string> second = world.releases(1);
  ASSERT_GE(first.size(), 3U);
  ASSERT_GE(second.size(), 3U);
  simdjson::dom::parser parser;
  const auto estimate = [&](const std::string& line) {
    return parser.parse(line)["estimate"]["x"].get_double().value();
  };
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_THAT(second[i], HasSubstr("\"lane\":1,\"epoch\":0"));
    EXPECT_NE(estimate(first[i]), estimate(second[i]));
  }
  EXPECT_EQ(ledger_end(world, 1).to, 300U);
  EXPECT_EQ(ledger_end(world, 1).rho, ledger_end(world, 0).rho);
}

TEST(DeadLetterTopic, ThatIsMissingIs78) {
  const AttachWorld world;
  const CommandResult result = world.run({"--set", "kafka.dead_letter_topic=\"nowhere\""});
  EXPECT_EQ(result.code, 78) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("topic 'nowhere' (kafka.dead_letter_topic) does not exist")));
}

}  // namespace
}  // namespace nustream::tests
