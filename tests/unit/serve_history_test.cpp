// The published past of a lane, thinned out: its bounds, and that it depends on the set of releases alone.
#include "serve/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "serve_lanes.h"

namespace nustream::serve {
namespace {

using ::testing::HasSubstr;
using tests::release_line;

std::string line_at(std::uint64_t step) {
  return release_line(0, step, R"({"x":)" + std::to_string(step) + R"(,"y":-1})", R"({"x":0.5,"y":0.25})");
}

std::vector<std::string> lines_of_every(std::uint64_t cadence, std::size_t count) {
  std::vector<std::string> lines;
  for (std::size_t i = 1; i <= count; ++i) lines.push_back(line_at(cadence * i));
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line;
  return all;
}

TEST(History, KeepsEveryReleaseWhileThereAreFew) {
  History history{StepCount{50}};
  history.add(joined(lines_of_every(50, 512)));
  EXPECT_EQ(history.width(), 50U);
  ASSERT_EQ(history.points().size(), 512U);
  const HistoryPoint& last = history.points().rbegin()->second;
  EXPECT_EQ(last.step, 25'600U);
  EXPECT_EQ(last.estimate, (std::vector<double>{25'600, -1}));
  EXPECT_EQ(last.average, (std::vector<double>{0.5, 0.25}));
  EXPECT_TRUE(last.lower.empty());
  EXPECT_EQ(last.rho, 0.25);
}

TEST(History, KeepsTheLastReleaseOfEachSpanOfALongStream) {
  History history{StepCount{50}};
  history.add(joined(lines_of_every(50, 513)));
  EXPECT_EQ(history.width(), 100U);
  ASSERT_EQ(history.points().size(), 257U);
  EXPECT_EQ(history.points().begin()->second.step, 100U);
  EXPECT_EQ(history.points().rbegin()->second.step, 25'650U) << "the newest release is always there";
}

// A restart reads the past in other pieces, and after newer releases have come.
TEST(History, IsTheSameWhateverTheOrderAndTheBatches) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 1 + random() % 3000;
    std::vector<std::string> lines;
    for (const std::string& line : lines_of_every(1 + random() % 40, count)) {
      if (random() % 3 > 0 || lines.empty()) lines.push_back(line);
    }
    History whole{StepCount{20}};
    whole.add(joined(lines));
    ASSERT_LE(whole.points().size(), whole.points_max());
    std::ranges::shuffle(lines, random);
    History pieces{StepCount{20}};
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = std::min<std::size_t>(lines.size(), at + 1 + random() % 700);
      std::string piece;
      for (; at < end; ++at) piece += lines[at];
      pieces.add(piece);
      if (random() % 4 == 0) pieces.add(piece);  // a line may come a second time
    }
    ASSERT_EQ(whole.width(), pieces.width()) << "round " << round;
    ASSERT_EQ(whole.points(), pieces.points()) << "round " << round;
  }
}

// Where noise hides a direction of the instruments, a release has no estimate, whether before or after ones that
// have.
TEST(History, KeepsReleasesWithoutAnEstimateAsGaps) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> lines;
    const std::uint64_t count = 1 + random() % 1500;
    for (std::uint64_t step = 1; step <= count; ++step) {
      lines.push_back(random() % 2 == 0 ? release_line(0, step, "null") : line_at(step));
    }
    History whole{StepCount{1}};
    whole.add(joined(lines));
    ASSERT_EQ(whole.points().rbegin()->second.step, count) << "the newest release is always there";
    std::ranges::shuffle(lines, random);
    History pieces{StepCount{1}};
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = std::min<std::size_t>(lines.size(), at + 1 + random() % 300);
      std::string piece;
      for (; at < end; ++at) piece += lines[at];
      pieces.add(piece);
    }
    ASSERT_EQ(whole.features(), pieces.features()) << "round " << round;
    ASSERT_EQ(whole.points(), pieces.points()) << "round " << round;
  }
}

TEST(History, BoundsItsNumbers) {
  std::string estimate = "{";
  for (int j = 0; j < 100; ++j) estimate += (j > 0 ? ",\"x" : "\"x") + std::to_string(j) + "\":1";
  estimate += '}';
  History history{StepCount{1}};
  for (std::uint64_t step = 1; step <= 1000; ++step) history.add(release_line(0, step, estimate, estimate));
  EXPECT_EQ(history.points_max(), 64U);
  EXPECT_LE(history.points().size(), 64U);
  EXPECT_GT(history.points().size(), 32U);
}

TEST(History, LeavesOutWhatIsNoReleaseAndIsNotMisledByNames) {
  History history{StepCount{10}};
  history.add("no release\n{\"step\":10}\n");
  EXPECT_TRUE(history.points().empty());
  history.add(release_line(0, 10, R"({"step":99,"\"step\":77":2})"));
  ASSERT_EQ(history.points().size(), 1U);
  EXPECT_EQ(history.points().begin()->second.step, 10U);
  EXPECT_EQ(history.features().front(), "step");
}

TEST(History, IsToldInAChartsPrecision) {
  HistoryPoint point{.step = 12345678, .rho = 0.123456789, .epsilon = 2};
  point.estimate = {1.0 / 3, std::numeric_limits<double>::quiet_NaN()};
  std::string out;
  publish::JsonWriter json(out);
  append_point(point, json);
  EXPECT_EQ(out, R"({"step":12345678,"rho":0.123457,"epsilon":2,"estimate":[0.333333,null],"average":null,)"
                 R"("lower":null,"upper":null})");
}

TEST(PublicSurfaceHistory, IsOfTheLanesThatAreOpen) {
  PublicSurface surface("retail");
  EXPECT_EQ(surface.history(LaneId{0}), std::nullopt);
  surface.open_lane(tests::public_lane(0));
  surface.update(tests::spend(0, 150, 0.1));
  surface.update(CommittedRelease::published(line_at(50) + line_at(100)));
  ASSERT_TRUE(surface.history(LaneId{0}));
  EXPECT_THAT(*surface.history(LaneId{0}), HasSubstr(R"("features":["x","y"],"points":[{"step":50,)"));
  EXPECT_THAT(*surface.history(LaneId{0}), HasSubstr(R"({"step":100,)"));
  EXPECT_THAT(surface.histories(), HasSubstr(R"({"lane":0,"epoch":0,"points":2,"path":"/api/v1/history/0"})"));
  surface.close_lane(LaneId{0});
  EXPECT_EQ(surface.history(LaneId{0}), std::nullopt);
}

// After a restart the last release is known at once, and the releases before it are found later.
TEST(PublicSurfaceHistory, TakesThePastOfItsOwnEpochAlone) {
  PublicSurface surface("retail");
  surface.open_lane(tests::public_lane(0, 1));
  surface.update(tests::spend(0, 150, 0.1, 1));
  const auto line = [](std::uint32_t lane, std::uint64_t step, std::uint32_t epoch) {
    return release_line(lane, step, R"({"x":1})", "null", epoch);
  };
  surface.update(CommittedRelease::published(line(0, 150, 1)));
  surface.update(CommittedPast::found(LaneId{0}, EpochId{1}, line(0, 500, 0) + line(1, 50, 1) + line(0, 50, 1)));
  EXPECT_THAT(*surface.history(LaneId{0}), HasSubstr(R"("points":[{"step":50,)"));
  EXPECT_THAT(surface.histories(), HasSubstr(R"("points":2)"));
  surface.update(CommittedPast::found(LaneId{0}, EpochId{0}, line(0, 100, 0)));
  EXPECT_THAT(surface.histories(), HasSubstr(R"("points":2)"));
}

}  // namespace
}  // namespace nustream::serve
