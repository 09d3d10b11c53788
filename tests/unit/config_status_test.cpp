// Which iterates of a descent are kept for its status, and which settings rule out that a path settles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/advice.h"
#include "config/mechanism.h"
#include "config_reading.h"

namespace nustream::config {
namespace {

using ::testing::HasSubstr;

std::string settings(const std::vector<std::string>& overrides) {
  const Config config = read(overrides);
  return settings_text(config, make_mechanism(config, privacy::Participation::once()), true,
                       EpochStart::last_release);
}

// An epoch of an earlier version, whose states have no trail, goes on under the digest that it has.
TEST(StatusSettings, KeepATrailWithoutAPlaceInTheDigest) {
  for (const std::string average : {"last", "exponential", "tail"}) {
    const std::string set = "descent.average=" + average;
    const Config config = read({set, "descent.average_from=700"});
    ASSERT_TRUE(config.descent.trail) << average;
    EXPECT_TRUE(config.descent.trail->shown);
    EXPECT_EQ(config.descent.trail->from, average == "tail" ? 700U : 0U);
    EXPECT_FALSE(config.descent.batching);
    const Config untold = read({set, "release.status=false"});
    ASSERT_TRUE(untold.descent.trail) << "a later run of the epoch may tell";
    EXPECT_FALSE(untold.descent.trail->shown);
    EXPECT_EQ(settings({set}), settings({set, "release.status=false"}));
    EXPECT_EQ(settings({set}) == settings({set, "release.status=true"}), average != "tail") << "batches are kept";
  }
  const std::vector<std::string> batches{"descent.average=tail", "intervals.kind=batch-means",
                                         "release.status=false"};
  EXPECT_TRUE(read(batches).descent.trail->shown) << "intervals of batch means always tell";
}

TEST(StatusSettings, KeepNoTrailWhereItWouldBeWrongOrLarge) {
  const std::vector<std::string> cooling{"descent.horizon=1000", "descent.cooldown=0.2"};
  EXPECT_FALSE(read(cooling).descent.trail);
  std::string wide = tests::example_config();
  for (int j = 0; j < 128; ++j) wide += "[[features]]\ncolumn = \"x" + std::to_string(j) + "\"\n";
  EXPECT_FALSE(read({}, wide).descent.trail);
  EXPECT_TRUE(read({"model.intercept=false"}, wide.substr(0, wide.rfind("[[features]]"))).descent.trail);
  EXPECT_THAT(refusal({"release.status=true"}, wide), HasSubstr("release.status"));
  EXPECT_TRUE(read({"release.status=true", "descent.average=tail"}, wide).descent.batching);
}

TEST(StatusSettings, KnowWhichStepsOvershootForSure) {
  const auto overshoots = [](const std::vector<std::string>& overrides) {
    const Config config = read(overrides);
    EXPECT_EQ(config.descent.overshoots, surely_overshoots(config));
    return config.descent.overshoots;
  };
  EXPECT_TRUE(overshoots({"descent.step_size=2"})) << "the intercept alone has the curvature 1";
  EXPECT_FALSE(overshoots({"descent.step_size=1.99"}));
  EXPECT_TRUE(overshoots({"descent.step_size=1.99", "model.l2=0.1"}));
  EXPECT_FALSE(overshoots({"descent.step_size=2", "descent.momentum=0.5"}));
  EXPECT_TRUE(overshoots({"descent.step_size=3", "descent.momentum=0.5"}));
  // What is guessed for planning changes no release.
  EXPECT_FALSE(overshoots({"descent.step_size=0.5", "plan.second_moment_eigenvalues=[0.1, 4]"}));
  EXPECT_TRUE(overshoots({"descent.step_size=2", "plan.second_moment_eigenvalues=[0.1, 0.2]"}));
  // Nobody knows how large the feature is, how much weight the records have, or how much of a loss's curvature is
  // met.
  EXPECT_FALSE(overshoots({"descent.step_size=2", "model.intercept=false"}));
  EXPECT_FALSE(overshoots({"descent.step_size=2", "weight.column=n", "weight.max=5"}));
  EXPECT_FALSE(overshoots({"descent.step_size=2", "model.loss=huber"}));
}

}  // namespace
}  // namespace nustream::config
