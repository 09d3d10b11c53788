// Charts as text: where points land, what is cut off, what makes a gap, and that no name breaks out of its place.
#include "chart/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "chart/rows.h"
#include "chart/scale.h"
#include "chart/text.h"

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

/// The numbers of the first path that has this class.
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

// A stream begins under much noise: its first iterate must not flatten the curve of all that follow.
TEST(Chart, CutsWhatFewPointsHaveAndNeverTheLast) {
  std::vector<Point> points{{0, 1e6, 0}};
  for (int i = 1; i <= 200; ++i) points.push_back({static_cast<double>(i), 1 + 0.001 * i, 0});
  EXPECT_LT(y_scale(path_of(points)).high, 2);
  points.push_back({201, -40, 0});
  EXPECT_LT(y_scale(path_of(points)).low, -40);
}

// On a logarithmic axis every decade is equally long, and a value without a logarithm makes a gap.
TEST(Chart, PutsPointsByTheirLogarithms) {
  Chart chart = path_of({{1, 1e-4, 0}, {10, 1e-2, 0}, {100, 1, 0}, {1000, 0, 0}});
  chart.x = {"records", false, true};
  chart.y = {"error", false, true};
  const std::vector<double> at = numbers_of("line", svg(chart, "c"));
  ASSERT_EQ(at.size(), 6U) << "the last has no place";
  EXPECT_NEAR(at[2] - at[0], at[4] - at[2], 0.11);
  EXPECT_NEAR(at[1] - at[3], at[3] - at[5], 0.11);
  EXPECT_GT(at[1], at[5]);
}

TEST(Chart, TellsLinesApartByMoreThanColour) {
  Chart chart = path_of({{0, 0, 0}, {1, 1, 0}});
  chart.layers.push_back({"other", Mark::line, {{0, 1, 0}, {1, 0, 0}}, 1});
  chart.layers.push_back({"measured", Mark::dots, {{0.5, 0.4, 0.6}}, 1});
  const std::string drawn = svg(chart, "c");
  EXPECT_THAT(drawn, HasSubstr("<path class=\"line h1\""));
  EXPECT_THAT(drawn, HasSubstr("<path class=\"error h1\""));
  EXPECT_THAT(std::string(colours()), HasSubstr(".chart .h1{--line:#c2410c;stroke-dasharray:"));
  EXPECT_THAT(legend(chart.layers), HasSubstr("<path class=\"line h1\""));
}

TEST(Rows, StandsWithAnyNumbersAndPutsThemInOrder) {
  for (const bool logarithmic : {false, true}) {
    Rows rows{.title = "errors", .summary = "Three.", .axis = {"error", false, logarithmic}, .groups = {}};
    rows.groups.push_back({"a", {{.label = "<one>", .value = 0.01}, {.label = "ten", .value = 0.1}}});
    rows.groups.push_back(
        {"b", {{.label = "none", .value = none}, {.label = "wide", .value = 1, .low = -1, .high = 9}}});
    const std::string drawn = svg(rows, "r");
    EXPECT_THAT(drawn, Not(HasSubstr("nan")));
    EXPECT_THAT(drawn, HasSubstr("&lt;one&gt;"));
    std::vector<double> places;
    const std::regex circle("<circle[^>]*cx=\"([0-9.]+)\"");
    for (std::sregex_iterator at(drawn.begin(), drawn.end(), circle), end; at != end; ++at) {
      places.push_back(std::stod((*at)[1]));
    }
    ASSERT_EQ(places.size(), 3U);
    EXPECT_LT(places[0], places[1]);
    EXPECT_LT(places[1], places[2]);
    if (!logarithmic) continue;
    EXPECT_NEAR(places[1] - places[0], places[2] - places[1], 0.11);
  }
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
    chart.layers.push_back({"dots", Mark::dots, points, static_cast<unsigned>(round % 9)});
    chart.x.logarithmic = round % 2 == 1;
    chart.y.logarithmic = round % 3 == 1;
    const std::string drawn = svg(chart, "c");
    ASSERT_THAT(drawn, Not(HasSubstr("nan"))) << drawn;
    ASSERT_THAT(drawn, Not(HasSubstr("inf"))) << drawn;
    ASSERT_LT(drawn.size(), 20'000U);
  }
}

TEST(Sparkline, GoesFromTheLeastToTheLargest) {
  const std::vector<double> values{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(sparkline(values, 20, true), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(values, 20, false), "_.-=+*#@");
  EXPECT_EQ(sparkline(values, 4, true), "▁▃▆█") << "the last of each two, the very last among them";
  EXPECT_EQ(sparkline(std::vector<double>{none, 5, 5, -1e308, 1e308}, 20, false).substr(0, 1), " ");
  EXPECT_EQ(sparkline(std::vector<double>{}, 20, true), "");
}

/// The rows of the drawing, from the top.
std::vector<std::string> rows_of(const std::string& text) {
  std::vector<std::string> rows;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (const std::size_t axis = line.find('|'); axis != std::string::npos) rows.push_back(line.substr(axis + 1));
    at = end + 1;
  }
  return rows;
}

TEST(TextOf, PutsALineFromCornerToCorner) {
  const std::vector<std::string> rows =
      rows_of(text_of(path_of({{0, 0, 0}, {100, 100, 0}}), {.columns = 60, .rows = 12, .unicode = false}));
  ASSERT_EQ(rows.size(), 12U);
  std::size_t last = 1000;
  std::size_t drawn = 0;
  for (const std::string& row : rows) {
    const std::size_t first = row.find('*');
    if (first == std::string::npos) continue;
    EXPECT_LT(first, last) << "upwards to the right";
    last = first;
    drawn += static_cast<std::size_t>(std::ranges::count(row, '*'));
  }
  EXPECT_EQ(drawn, rows.front().size()) << "one letter a column";
}

TEST(TextOf, StandsWithAnyNumbersAndNames) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 300; ++round) {
    Chart chart = path_of({});
    chart.title = "\x1b[31mred";
    for (std::size_t i = random() % 5; i > 0; --i) {
      const double size = std::pow(10, static_cast<double>(random() % 600) - 300);
      chart.layers.front().points.push_back(
          {static_cast<double>(random() % 4), size, random() % 2 == 0 ? none : size});
    }
    chart.layers.push_back({std::string(200, 'x'), Mark::band, chart.layers.front().points});
    chart.layers.push_back({"ρ", Mark::dots, chart.layers.front().points, 3});
    chart.y.logarithmic = round % 2 == 0;
    chart.x.logarithmic = round % 3 == 0;
    const TextStyle style{.columns = 30 + random() % 90, .rows = 8, .unicode = round % 4 < 2, .colour = false};
    const std::string text = text_of(chart, style);
    ASSERT_THAT(text, Not(HasSubstr("nan")));
    ASSERT_THAT(text, Not(HasSubstr("\x1b"))) << "a name that would move the cursor";
    for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      ASSERT_LE(letters(text.substr(at, end - at)), std::max<std::size_t>(40, style.columns)) << text;
    }
  }
}

TEST(Ticks, OfALogarithmAreDistinctAndWithin) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 2000; ++round) {
    const double low = std::pow(10, static_cast<double>(random() % 3000) / 100 - 15);
    const Scale scale{low, low * std::pow(10, 0.05 + static_cast<double>(random() % 2000) / 100), true};
    const std::vector<Tick> found = ticks(scale, 4, false);
    ASSERT_GE(found.size(), 2U) << scale.low << " to " << scale.high;
    ASSERT_LE(found.size(), 8U) << scale.low << " to " << scale.high;
    std::set<std::string> texts;
    for (const Tick& tick : found) {
      EXPECT_TRUE(texts.insert(tick.text).second) << tick.text << ", " << scale.low << " to " << scale.high;
      EXPECT_GE(scale.share(tick.at), -1e-6);
      EXPECT_LE(scale.share(tick.at), 1 + 1e-6);
    }
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
