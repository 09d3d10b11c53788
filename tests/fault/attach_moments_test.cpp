// The attached service with running sums on a real broker. Through kills, new epochs and limits it releases what a
// replay of the same records releases, and the lanes' sums add up to one model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "attach_promise.h"
#include "nustream/moments/normal_equations.h"
#include "publish/release_json.h"
#include "publish/released_sums.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> sums{"--set", "model.estimator=moments", "--set", "moments.row_norm=4",
                                    "--set", "moments.residual_bound=4"};

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.begin(), sums.begin(), sums.end());
  return more;
}

// A batch of 250 records is two steps, and the rows of the third one wait.
TEST(AttachMoments, KilledAndStartedAgainItReleasesWhatAReplayDoes) {
  const AttachWorld world;
  const std::vector<std::string> values = AttachWorld::values(2000);
  const std::vector<std::string> stages = with({"--set", "moments.stages=[{from=500, residual_bound=2}]", "--set",
                                                "intervals.kind=residuals", "--set", "release.moments=true"});
  std::vector<std::string> arguments = stages;
  for (const char* more : {"--insecure-seed", "7", "-X", "session.timeout.ms=3000"}) arguments.emplace_back(more);
  world.write({values.begin(), values.begin() + 1150});
  {
    Command service(NUSTREAM_COMMAND, world.attach(arguments));
    wait_until([&] { return ledger_end(world).steps >= 10; });
    service.signal(SIGKILL);
    EXPECT_EQ(service.wait().code, 128 + SIGKILL);
  }
  EXPECT_EQ(ledger_end(world).to % 100, 0U) << "whole steps alone";
  world.write({values.begin() + 1150, values.end()});
  arguments.emplace_back("--until-end");
  const CommandResult result = world.run(arguments);
  ASSERT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> releases = world.releases();
  ASSERT_EQ(releases.size(), 20U) << "one a step of release.every records";
  EXPECT_TRUE(joined(releases) == replayed(world, values, 7, 0, stages));
  expect_one_value_a_step(world.releases_uncommitted());
  EXPECT_EQ(ledger_end(world).steps, 20U);
}

// The last 50 records are less than a step: they are neither released nor charged.
TEST(AttachMoments, RecordsThatFillNoStepWaitForTheNextOnes) {
  const AttachWorld world;
  const std::vector<std::string> values = AttachWorld::values(400);
  world.write({values.begin(), values.begin() + 350});
  const std::vector<std::string> arguments = with({"--until-end", "--insecure-seed", "3"});
  ASSERT_EQ(world.run(arguments).code, 0);
  EXPECT_EQ(ledger_end(world).to, 300U);
  EXPECT_EQ(world.releases().size(), 3U);
  world.write({values.begin() + 350, values.end()});
  ASSERT_EQ(world.run(arguments).code, 0);
  EXPECT_TRUE(joined(world.releases()) == replayed(world, values, 3, 0, sums));
}

// The sums of 80 features make some 70 kB in each release.
TEST(AttachMoments, BatchesCloseByTheBytesOfTheSumsThatTheyRelease) {
  AttachWorld world;
  std::string columns;
  std::string features;
  std::string value;
  for (int j = 0; j < 80; ++j) {
    columns += "\"f" + std::to_string(j) + "\", ";
    features += "[[features]]\ncolumn = \"f" + std::to_string(j) + "\"\n";
    value += std::to_string(0.01 * j) + ",";
  }
  world.change_config({{"columns = [\"x\", \"y\"]", "columns = [" + columns + "\"y\"]"},
                       {"[[features]]\ncolumn = \"x\"\n", features},
                       {"commit_records = 250", "commit_records = 1000000\ncommit_seconds = 3600"}});
  const std::vector<std::string> values(600, value + "1");
  world.write(values);
  const std::vector<std::string> wide = with({"--set", "release.every=10", "--set", "release.moments=true"});
  std::vector<std::string> arguments = wide;
  for (const char* more : {"--until-end", "--insecure-seed", "7"}) arguments.emplace_back(more);
  const CommandResult result = world.run(arguments);
  ASSERT_EQ(result.code, 0) << result.err;
  std::size_t largest = 0;
  for (const StoredRecord& state : world.committed(world.name() + ".state")) {
    largest = std::max(largest, state.value.value_or("").size());
  }
  EXPECT_GT(largest, std::size_t{200'000}) << "batches of several releases";
  EXPECT_LT(largest, std::size_t{1} << 20);
  EXPECT_EQ(ledger_end(world).steps, 60U);
  EXPECT_TRUE(joined(world.releases()) == replayed(world, values, 7, 0, wide));
}

TEST(AttachMoments, ANewEpochIsAboutTheLastRelease) {
  const AttachWorld world;
  world.write(AttachWorld::values(1000));
  // The seed is fixed, since noise alone lifts a direction above the floor now and then.
  ASSERT_EQ(world.run(with({"--until-end", "--insecure-seed", "7", "--set", "privacy.rho=100"})).code, 0);
  const auto last = publish::read_release(world.releases().back()).value();
  EXPECT_NEAR(last.estimate.at(1).second, -0.5, 0.1);
  // There is so much noise that every direction is hidden, and the answer stays at the centre.
  const std::vector<std::string> hidden =
      with({"--until-end", "--insecure-seed", "7", "--set", "privacy.rho=1e-9", "--new-epoch"});
  world.write(AttachWorld::values(100, 2));
  ASSERT_EQ(world.run(hidden).code, 0);
  const auto begun = publish::read_release(world.releases().back()).value();
  EXPECT_EQ(begun.epoch, EpochId{1});
  EXPECT_EQ(begun.sums.floored, 2U);
  EXPECT_NEAR(begun.rho_ledger, last.rho, 1e-6) << "of another epoch's records: the larger one, not the sum";
}

// Lanes that change hands in the middle of a step go on after the rows of that step are read again.
TEST(AttachMoments, ARebalanceMovesLanesBetweenSteps) {
  const AttachWorld world(2);
  const std::vector<std::string> values = AttachWorld::values(3000);
  const std::vector<std::string> halves[2] = {{values.begin(), values.begin() + 1500},
                                              {values.begin() + 1500, values.end()}};
  const std::vector<std::string> quick =
      with({"--insecure-seed", "7", "--set", "state.commit_seconds=0.1", "-X", "session.timeout.ms=6000"});
  const auto write_up_to = [&](std::size_t from, std::size_t to) {
    for (const int lane : {0, 1}) {
      world.write({halves[lane].begin() + static_cast<std::ptrdiff_t>(from),
                   halves[lane].begin() + static_cast<std::ptrdiff_t>(to)},
                  lane);
    }
  };
  const auto both_at = [&](std::uint64_t steps) {
    return ledger_end(world, 0).steps == steps && ledger_end(world, 1).steps == steps;
  };
  write_up_to(0, 470);
  Command first(NUSTREAM_COMMAND, world.attach(quick));
  wait_until([&] { return both_at(4); });
  Command second(NUSTREAM_COMMAND, world.attach(quick));
  write_up_to(470, 990);
  wait_until([&] { return both_at(9); });
  first.signal(SIGKILL);
  EXPECT_EQ(first.wait().code, 128 + SIGKILL);
  write_up_to(990, 1500);
  wait_until([&] { return both_at(15); });
  second.signal(SIGTERM);
  EXPECT_EQ(second.wait().code, 0);
  for (const int lane : {0, 1}) {
    EXPECT_TRUE(joined(world.releases(lane)) == replayed(world, halves[lane], 7, lane, sums)) << "lane " << lane;
    expect_one_value_a_step(world.releases_uncommitted(lane));
  }
}

// The model is what one run over the records of both lanes would solve. A consumer of it can solve for other models.
TEST(AttachMoments, LanesSumsAddUpToOneModel) {
  const AttachWorld world(2);
  const std::string topic = world.name() + ".model";
  create_topic(AttachWorld::direct(), topic, 1, {{"cleanup.policy", "compact"}});
  world.write(AttachWorld::values(300, 1), 0);
  world.write(AttachWorld::values(2000, 2), 1);
  const CommandResult result =
      world.run(with({"--until-end", "--insecure-seed", "7", "--set", "privacy.rho=5", "--set",
                      "kafka.model_topic=\"" + topic + "\"", "--set", "kafka.model_seconds=0.2"}));
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string model = world.committed(topic).back().value.value();
  std::vector<moments::NormalEquations> parts;
  double squares = 0;
  for (const int lane : {0, 1}) {
    const auto shown = publish::read_sums(world.releases(lane).back());
    ASSERT_TRUE(shown) << "sums are shown where there is a model";
    parts.push_back(shown->equations);
    squares += shown->floor * shown->floor;
  }
  const moments::FlooredSolution solved = moments::solve(moments::added(parts), std::sqrt(squares));
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(model);
  EXPECT_EQ(json["moments"]["records"].get_uint64().value(), 2300U);
  EXPECT_EQ(json["moments"]["floored"].get_uint64().value(), 0U);
  EXPECT_NEAR(json["estimate"]["intercept"].get_double().value(), solved.theta[0], 1e-12);
  EXPECT_NEAR(json["estimate"]["x"].get_double().value(), solved.theta[1], 1e-12);
  EXPECT_NEAR(json["estimate"]["x"].get_double().value(), -0.5, 0.05);
  const std::string file = world.folder().write("model.jsonl", model + "\n");
  const CommandResult alone = run_command(
      NUSTREAM_COMMAND, {"solve", world.config(), "--set", "model.estimator=moments", "--set", "moments.row_norm=4",
                         "--set", "moments.residual_bound=4", "--release", file, "--features", "x", "--json"});
  ASSERT_EQ(alone.code, 0) << alone.err;
  simdjson::dom::parser parser_of_solved;
  const simdjson::dom::element by_consumer = parser_of_solved.parse(alone.out);
  EXPECT_NEAR(by_consumer["estimate"]["intercept"].get_double().value(), solved.theta[0], 1e-12);
  EXPECT_NEAR(by_consumer["estimate"]["x"].get_double().value(), solved.theta[1], 1e-12);
}

// With instruments too each lane is that of a replay, and the lanes' sums add up to one model. Here x is its own
// instrument, so that the model is that of least squares.
TEST(AttachMoments, LanesSumsAddUpWhereThereAreInstruments) {
  AttachWorld world(2);
  world.change_config(
      {{R"(columns = ["x", "y"])", R"(columns = ["z", "x", "y"])"},
       {"[[features]]\ncolumn = \"x\"\n", "[[instruments]]\ncolumn = \"z\"\n[[endogenous]]\ncolumn = \"x\"\n"}});
  const std::string topic = world.name() + ".model";
  create_topic(AttachWorld::direct(), topic, 1, {{"cleanup.policy", "compact"}});
  const std::vector<std::string> instrumented =
      with({"--set", "moments.regressor_bound=4", "--set", "privacy.rho=20"});
  std::vector<std::string> values[2];
  for (const int lane : {0, 1}) {
    values[lane] = AttachWorld::values(lane == 0 ? 1000 : 2000, static_cast<std::uint64_t>(lane) + 1);
    for (std::string& value : values[lane]) value = value.substr(0, value.find(',')) + "," + value;
    world.write(values[lane], lane);
  }
  std::vector<std::string> arguments = instrumented;
  for (const std::string& more :
       {std::string("--until-end"), std::string("--insecure-seed"), std::string("7"), std::string("--set"),
        "kafka.model_topic=\"" + topic + "\"", std::string("--set"), std::string("kafka.model_seconds=0.2")}) {
    arguments.push_back(more);
  }
  const CommandResult result = world.run(arguments);
  ASSERT_EQ(result.code, 0) << result.err;
  std::vector<std::string> shown = instrumented;
  shown.insert(shown.end(), {"--set", "release.moments=true"});
  for (const int lane : {0, 1}) {
    EXPECT_TRUE(joined(world.releases(lane)) == replayed(world, values[lane], 7, lane, shown)) << "lane " << lane;
  }
  simdjson::dom::parser parser;
  const simdjson::dom::element model = parser.parse(world.committed(topic).back().value.value());
  EXPECT_EQ(model["moments"]["records"].get_uint64().value(), 3000U);
  EXPECT_NEAR(model["estimate"]["x"].get_double().value(), -0.5, 0.05);
  const double alone = publish::read_release(world.releases(0).back())->estimate.back().second;
  EXPECT_NE(model["estimate"]["x"].get_double().value(), alone) << "the model is that of both lanes";
}

TEST(AttachMoments, ItsHorizonEndsTheLane) {
  const AttachWorld world;
  world.write(AttachWorld::values(1000));
  const CommandResult result = world.run(with({"--until-end", "--set", "moments.releases=4"}));
  EXPECT_EQ(result.code, 73) << result.err;
  EXPECT_EQ(ledger_end(world).steps, 4U);
  EXPECT_NEAR(ledger_end(world).rho, 0.5, 1e-6);
  EXPECT_EQ(world.releases().size(), 4U);
}

TEST(AttachMoments, AStepThatNoBatchHoldsIsRefusedBeforeABrokerIsAsked) {
  const AttachWorld world;
  const CommandResult result = world.run(with({"--set", "release.every=300"}));
  EXPECT_EQ(result.code, 78);
  EXPECT_THAT(result.err, HasSubstr("release.every = 300 is larger than state.commit_records"));
}

}  // namespace
}  // namespace nustream::tests
