// Running sums where the unit of privacy is the user, in a stream and over a table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <simdjson.h>

#include "users_world.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

/// Bounds of rows and sums so wide that only a user's sums are shortened.
const std::vector<std::string> by_sums{"--quiet",
                                       "--insecure-seed",
                                       "7",
                                       "--set",
                                       "model.estimator=moments",
                                       "--set",
                                       "release.every=20",
                                       "--set",
                                       "moments={row_norm=12, residual_bound=10}"};

// y = 1 − 0.5x + noise. With next to no privacy noise, and a limit that nobody meets, every row counts.
TEST(UsersMoments, AreThoseOfAllRowsWhereNothingIsShortened) {
  const UsersWorld world(2000, 40, "participations = 1000\n");
  const CommandResult run = world.run(with(by_sums, {"--set", "privacy.rho=1e9", "--json"}));
  ASSERT_EQ(run.code, 0) << run.err;
  const std::vector<double> slopes = slopes_of(world.releases());
  ASSERT_EQ(slopes.size(), 100U);
  const CommandResult by_record =
      world.run(with(by_sums, {"--set", "privacy.rho=1e9", "--set", "privacy.unit=record"}), "by_record");
  ASSERT_EQ(by_record.code, 0) << by_record.err;
  EXPECT_NEAR(slopes.back(), -0.5, 0.03);
  EXPECT_THAT(world.releases(), HasSubstr(R"("protects":"user","user":"who","participations":1000)"));
}

// Nobody counts again after a stop, in whatever parts the stream is read.
TEST(UsersMoments, CountOnWhereTheyWereStopped) {
  const UsersWorld world(2000, 40, "participations = 3\nmass = 0.5\n");
  ASSERT_EQ(world.run(by_sums, "whole").code, 0);
  for (const char* to : {"400", "1140", "2000"}) {
    std::vector<std::string> more{"--to", to};
    if (to != std::string("400")) more.emplace_back("--resume");
    const CommandResult part = world.run(with(by_sums, more));
    ASSERT_EQ(part.code, 0) << part.err;
  }
  const std::vector<double> whole = slopes_of(world.releases("whole"));
  ASSERT_EQ(whole.size(), 100U);
  EXPECT_EQ(slopes_of(world.releases()), whole);
}

// The blocks of a step are charged together, and what the ledger says of users comes to no less than that.
TEST(UsersMoments, AreVerifiedByThirdParties) {
  for (const char* limits : {"participations = 1\n", "participations = 7\nseparation = 3\n", "mass = 0.5\n",
                             "participations = 3\nmass = 0.5\n"}) {
    const UsersWorld world(2000, 40, limits);
    const std::vector<std::string> private_sums(by_sums.begin() + 3, by_sums.end());
    const CommandResult run = world.run(with({"--quiet"}, private_sums));
    ASSERT_EQ(run.code, 0) << run.err;
    const CommandResult shown = run_command(NUSTREAM_COMMAND, {"inspect", world.path("state"), "--json"});
    simdjson::dom::parser parser;
    const std::string key(parser.parse(shown.out)["public_key"].get_string().value());
    const CommandResult verified = run_command(NUSTREAM_COMMAND, {"verify", world.path("state/releases.jsonl"),
                                                                  world.path("state/ledger"), "--public-key", key});
    EXPECT_EQ(verified.code, 0) << limits << verified.err;
    EXPECT_THAT(verified.out, HasSubstr(" (zCDP, per user, zero-out) over all epochs"));
  }
}

TEST(UsersMoments, OfATableCostAUserEveryStep) {
  const UsersWorld world;
  std::string config = read_file(world.config());
  config.replace(config.find("[users]"), std::string::npos,
                 "[estimate]\n[model]\nestimator = \"moments\"\n[moments]\nrow_norm = 30.0\nresidual_bound = 10.0\n");
  config.replace(config.find("every = 1\n"), 10, "every = 500\n");
  const std::string file = world.write("table.toml", config);
  const auto estimate = [&](const std::vector<std::string>& more, const char* state) {
    return run_command(NUSTREAM_COMMAND, with({"estimate", file, "--insecure-seed", "5", "--json", "--set",
                                               "state.directory=\"" + world.path(state) + "\""},
                                              more));
  };
  const CommandResult by_user = estimate({}, "by_user");
  ASSERT_EQ(by_user.code, 0) << by_user.err;
  simdjson::dom::parser parser;
  const auto report = parser.parse(by_user.out);
  EXPECT_THAT(read_file(world.path("by_user/releases.jsonl")),
              HasSubstr(R"("protects":"user","user":"who","participations":4)"));
  EXPECT_NEAR(report["rho"].get_double().value(), 0.5, 1e-9);
  const CommandResult exact = estimate({"--set", "privacy.rho=1e9"}, "exact");
  ASSERT_EQ(exact.code, 0) << exact.err;
  simdjson::dom::parser second;
  EXPECT_NEAR(second.parse(exact.out)["estimate"]["x"].get_double().value(), -0.5, 0.05);
}

TEST(UsersMoments, RefuseIntervals) {
  const UsersWorld world;
  const CommandResult run =
      world.run(with(by_sums, {"--set", "intervals.kind=residuals", "--set",
                               "moments={row_norm=12, residual_bound=10, stages=[{from=1000, residual_bound=5}]}"}));
  EXPECT_EQ(run.code, 78);
  EXPECT_THAT(run.err, HasSubstr("a user's rows are no independent records"));
}

TEST(UsersMoments, ArePlannedWithEveryLimit) {
  const UsersWorld world;
  const CommandResult plan =
      run_command(NUSTREAM_COMMAND, {"plan", world.config(), "--json", "--set", "model.estimator=moments", "--set",
                                     "release.every=1000", "--set", "moments={row_norm=12, residual_bound=10}",
                                     "--set", "plan={users=4000, user_records=100}"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  simdjson::dom::parser parser;
  const auto json = parser.parse(plan.out);
  EXPECT_GT(json["moments"].get_array().size(), 1U);
  EXPECT_GT(json["limits"].get_array().size(), 5U);
  for (const auto& one : json["limits"].get_array()) {
    EXPECT_GT(one["predicted_stddev"].get_double().value(), 0);
    EXPECT_LE(one["kept"].get_double().value(), 1);
  }
}

}  // namespace
}  // namespace nustream::tests
