// Charts as text: where points land, what is cut, what is a gap, and that no name breaks out of its place.
#include "chart/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "chart/scale.h"

namespace nustream::chart {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

Chart path_of(std::vector<Point> points) {
  return {.title = "x over the steps",
          .summary = "It settles.",
          .x = {"steps", true},
          .y = {},
          .layers = {{"estimate", Mark::line, std::move(points)}}};
}

/// The numbers of the first path of that class.
std::vector<double> numbers_of(const std::string& mark, const std::string& svg) {
  std::smatch found;
  const std::regex path("<path class=\"" + mark + "\" d=\"([^\"]*)\"");
  std::vector<double> numbers;
  if (!std::regex_search(svg, found, path)) return numbers;
  const std::string data = found[1];
  const std::regex number("-?[0-9.]+");
  for (std::sregex_iterator at(data.begin(), data.end(), number), end; at != end; ++at) {
    numbers.push_back(std::stod(at->str()));
  }
  return numbers;
}

TEST(Escaped, LeavesNothingThatBreaksOut) {
  EXPECT_EQ(escaped("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(escaped(std::string("\0\x1b\n", 3)), "\xEF\xBF\xBD\xEF\xBF\xBD\n");
  EXPECT_EQ(escaped("größe ρ"), "größe ρ");
}

TEST(Chart, PutsPointsInProportion) {
  const std::vector<double> at = numbers_of("line", svg(path_of({{0, 0, 0}, {50, 1, 0}, {100, 2, 0}}), "c"));
  ASSERT_EQ(at.size(), 6U);
  EXPECT_NEAR(at[2] - at[0], at[4] - at[2], 0.11) << "half the steps, half the way";
  EXPECT_NEAR(at[1] - at[3], at[3] - at[5], 0.11) << "upwards";
  EXPECT_GT(at[1], at[5]);
}

TEST(Chart, LeavesGapsWhereThereIsNoNumber) {
  const std::string drawn = svg(path_of({{1, 1, 0}, {2, 1, 0}, {3, none, 0}, {4, 2, 0}, {5, 2, 0}}), "c");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(drawn, found, std::regex("class=\"line\" d=\"M[^M]*L[^M]*M[^M]*L[^M\"]*\"")));
  EXPECT_THAT(drawn, Not(HasSubstr("nan")));
}

TEST(Chart, DrawsABandThereAndBack) {
  Chart chart = path_of({{1, 0, 0}, {2, 0, 0}});
  chart.layers.insert(chart.layers.begin(), {"interval", Mark::band, {{1, -1, 1}, {2, -2, 2}, {3, none, none}}});
  const std::vector<double> at = numbers_of("band", svg(chart, "c"));
  ASSERT_EQ(at.size(), 8U);
  EXPECT_EQ(at[0], at[6]) << "it ends below where it began";
  EXPECT_LT(at[1], at[7]);
}

// A stream begins under much noise: its first iterate must not flatten all that follow.
TEST(Chart, CutsWhatFewPointsHaveAndNeverTheLast) {
  std::vector<Point> points{{0, 1e6, 0}};
  for (int i = 1; i <= 200; ++i) points.push_back({static_cast<double>(i), 1 + 0.001 * i, 0});
  EXPECT_LT(y_scale(path_of(points)).high, 2);
  points.push_back({201, -40, 0});
  EXPECT_LT(y_scale(path_of(points)).low, -40);
}

TEST(Chart, StandsWithAnyNumbers) {
  std::mt19937_64 random(3);
  const std::vector<double> odd{0,      -0.0, 1e-300, 1e300, -1e300, none, std::numeric_limits<double>::infinity(),
                                5e-324, 1};
  for (int round = 0; round < 500; ++round) {
    std::vector<Point> points;
    for (std::size_t i = random() % 6; i > 0; --i) {
      points.push_back({static_cast<double>(random() % 4), odd[random() % odd.size()], odd[random() % odd.size()]});
    }
    Chart chart = path_of(points);
    chart.layers.push_back({"band", Mark::band, points});
    const std::string drawn = svg(chart, "c");
    ASSERT_THAT(drawn, Not(HasSubstr("nan"))) << drawn;
    ASSERT_THAT(drawn, Not(HasSubstr("inf"))) << drawn;
    ASSERT_LT(drawn.size(), 20'000U);
  }
}

TEST(Ticks, AreDistinctAndWithin) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    const double size = std::pow(10, static_cast<double>(random() % 13) - 6);
    const double low = (static_cast<double>(random() % 2000) - 1000) / 100 * size;
    const Scale scale{low, low + size * (1 + static_cast<double>(random() % 1000) / 100)};
    const std::vector<Tick> found = ticks(scale, 4, false);
    ASSERT_GE(found.size(), 2U) << scale.low << " to " << scale.high;
    ASSERT_LE(found.size(), 8U) << scale.low << " to " << scale.high;
    std::set<std::string> texts;
    for (const Tick& tick : found) {
      EXPECT_TRUE(texts.insert(tick.text).second) << tick.text << ", " << scale.low << " to " << scale.high;
      EXPECT_NEAR(std::stod(tick.text), tick.at, 1e-3 * (scale.high - scale.low) + 1e-12);
    }
  }
}

TEST(ShortCount, IsShort) {
  EXPECT_EQ(short_count(0), "0");
  EXPECT_EQ(short_count(8000), "8000");
  EXPECT_EQ(short_count(25'000), "25 k");
  EXPECT_EQ(short_count(31'536'000), "31.54 M");
  EXPECT_EQ(short_count(2.5e9), "2.5 G");
}

TEST(SvgFile, StandsWithoutALayer) {
  const std::string file = svg_file({.title = "nothing", .summary = "nothing", .x = {}, .y = {}, .layers = {}});
  EXPECT_THAT(file, HasSubstr(">nothing</text>"));
  EXPECT_THAT(file, Not(HasSubstr("nan")));
}

TEST(SvgFile, StandsAlone) {
  Chart chart = path_of({{1, 1, 0}, {2, 2, 0}});
  chart.title = "<evil> & co";
  const std::string file = svg_file(chart);
  EXPECT_THAT(file, HasSubstr("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(file, HasSubstr("&lt;evil&gt; &amp; co"));
  EXPECT_THAT(file, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(file, HasSubstr(">estimate</text>"));
}

}  // namespace
}  // namespace nustream::chart
