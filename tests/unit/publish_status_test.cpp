// What a release of a descent says of its path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "publish/intervals.h"

namespace nustream::publish {
namespace {

using inference::Verdict;

/// A trail of independent normal iterates of two coordinates.
std::vector<double> trail_of(std::size_t pairs) {
  std::mt19937_64 engine(31);
  std::normal_distribution<double> normal;
  std::vector<double> trail(4 * pairs);
  for (double& each : trail) each = normal(engine);
  return trail;
}

lane::Release release_of(const std::vector<double>& theta, const std::vector<double>& trail) {
  lane::Release release{StepCount{5'000}, Position{5'000}, theta, {}};
  release.trail = trail;
  release.trail_distance = 64;
  return release;
}

std::string shown(const inference::PathStatus& status) {
  return object_text([&](JsonWriter& json) { append_status(status, json); });
}

TEST(StatusOfARelease, IsOfItsTrailWhereThereAreNoBatches) {
  const std::vector<double> theta(2);
  const std::vector<double> trail = trail_of(40);
  const auto status = status_of(release_of(theta, trail));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->verdict, Verdict::settled);
  EXPECT_EQ(status->false_alarm, 0.06);
  EXPECT_THAT(shown(*status), ::testing::ContainsRegex("\"memory\":[^,]+,\"swing\":[^,]+,\"false_alarm\":0.06"));
  EXPECT_EQ(status_of(release_of(theta, trail_of(31)))->verdict, Verdict::converging);
  EXPECT_EQ(status_of(release_of(theta, {}))->verdict, Verdict::converging) << "nothing is known yet";
  const lane::Release bare{StepCount{5'000}, Position{5'000}, theta, {}};
  EXPECT_FALSE(status_of(bare));
}

TEST(StatusOfARelease, SeesIteratesThatJumpToAndFro) {
  const std::vector<double> theta(2);
  std::vector<double> trail = trail_of(40);
  for (std::size_t i = 0; i < trail.size(); i += 2) trail[i] += i % 4 == 0 ? 20 : -20;
  const auto status = status_of(release_of(theta, trail));
  EXPECT_EQ(status->verdict, Verdict::diverged);
  EXPECT_GT(status->swing.value(), 100);
  // Each pair has its middle where it had it before, and the tests of movement see nothing else.
  EXPECT_NEAR(status->trend, status_of(release_of(theta, trail_of(40)))->trend, 1e-9);
}

TEST(StatusOfARelease, IsDivergedWhereTheIterateIsNoNumberOrTheSettingsOvershoot) {
  const std::vector<double> trail = trail_of(40);
  for (const double lost : {std::nan(""), HUGE_VAL}) {
    const std::vector<double> theta{0, lost};
    EXPECT_EQ(status_of(release_of(theta, trail))->verdict, Verdict::diverged);
  }
  const std::vector<double> theta(2);
  lane::Release release = release_of(theta, trail);
  release.overshoots = true;
  EXPECT_EQ(status_of(release)->verdict, Verdict::diverged);
  EXPECT_FALSE(may_show_intervals(release, status_of(release)));
  release.trail_distance = 0;
  EXPECT_FALSE(status_of(release)) << "where no status is told, this is none either";
}

// What is told of a release does not depend on the releases before it.
TEST(StatusOfARelease, IsTheSameFromALaneThatRemembersIt) {
  ReleaseStatus lane;
  const std::vector<double> finite(2);
  const std::vector<double> lost(2, std::nan(""));
  for (const std::size_t pairs : {0U, 31U, 32U, 32U, 40U}) {
    const std::vector<double> trail = trail_of(pairs);
    for (const std::vector<double>* theta : {&finite, &finite, &lost, &finite}) {
      const lane::Release release = release_of(*theta, trail);
      EXPECT_EQ(shown(*lane.of(release)), shown(*status_of(release))) << pairs;
    }
  }
}

TEST(StatusOfARelease, SpeaksOfAnIntervalOnlyWhereOneIsAskedFor) {
  EXPECT_EQ(in_words("converging", true),
            "the path still converges, or is too short to tell: there is no interval yet");
  EXPECT_EQ(in_words("converging", false), "the path still converges, or is too short to tell");
  EXPECT_EQ(in_words("drifting", false), "the path drifts: the estimate goes on moving");
  EXPECT_EQ(in_words("", true), "");
}

}  // namespace
}  // namespace nustream::publish
