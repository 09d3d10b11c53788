// draw_chart reads a chart as JSON from standard input and writes SVG to standard output, with the code that draws
// the service's own charts. A chart has either lines over x, or rows beside each other:
//
//     {"title": …, "x": {"title": …, "logarithmic": true}, "y": …,
//      "series": [{"series": NAME, "points": [[x, y, standard error], …]}, …]}
//     {"title": …, "axis": {"title": …, "logarithmic": true}, "keys": [{"name": …, "hue": 0}, …],
//      "groups": [{"heading": …, "rows": [{"label": …, "value": …, "error": …, "shown": …, "hue": 0}, …]}, …]}
#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "chart/rows.h"
#include "line_chart.h"

namespace {

using namespace nustream;
using Element = simdjson::dom::element;

std::string text(const Element& from, const char* key) {
  std::string_view value;
  return from[key].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
}

bool flag(const Element& from, const char* key) {
  bool value = false;
  return from[key].get(value) == simdjson::SUCCESS && value;
}

unsigned hue(const Element& from) {
  std::uint64_t value = 0;
  return from["hue"].get(value) == simdjson::SUCCESS ? static_cast<unsigned>(value % chart::hues) : 0;
}

benchmarks::Axis axis(const Element& from) {
  return {text(from, "title"), flag(from, "logarithmic")};
}

std::string lines(const Element& asked) {
  std::vector<benchmarks::Series> all;
  for (const Element one : simdjson::dom::array(asked["series"])) {
    benchmarks::Series series{text(one, "series"), {}, flag(one, "points_only"), flag(one, "is_theory")};
    for (const Element point : simdjson::dom::array(one["points"])) {
      const simdjson::dom::array numbers = point;
      series.points.push_back(
          {double(numbers.at(0)), double(numbers.at(1)), numbers.size() > 2 ? double(numbers.at(2)) : 0});
    }
    all.push_back(std::move(series));
  }
  return chart::svg_file(benchmarks::line_chart(text(asked, "title"), axis(asked["x"]), axis(asked["y"]), all));
}

std::string rows(const Element& asked) {
  const benchmarks::Axis of = axis(asked["axis"]);
  chart::Rows drawn{.title = text(asked, "title"),
                    .summary = {},
                    .axis = {.title = of.title, .logarithmic = of.logarithmic},
                    .groups = {},
                    .width = 800};
  std::size_t count = 0;
  for (const Element group : simdjson::dom::array(asked["groups"])) {
    drawn.groups.push_back({text(group, "heading"), {}});
    for (const Element row : simdjson::dom::array(group["rows"])) {
      const double value = row["value"];
      double error = 0;
      if (row["error"].get(error) != simdjson::SUCCESS) error = 0;
      drawn.groups.back().rows.push_back({.label = text(row, "label"),
                                          .value = value,
                                          .low = value - error,
                                          .high = value + error,
                                          .shown = text(row, "shown"),
                                          .hue = hue(row)});
      ++count;
    }
  }
  for (const Element key : simdjson::dom::array(asked["keys"])) {
    drawn.keys.push_back({text(key, "name"), chart::Mark::dots, {{}}, hue(key)});
  }
  drawn.summary = fmt::format("{} numbers in {} groups.", count, drawn.groups.size());
  return chart::svg_file(drawn);
}

}  // namespace

int main() {
  const std::string json((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
  try {
    simdjson::dom::parser parser;
    const Element asked = parser.parse(json);
    const bool has_rows = asked["groups"].error() == simdjson::SUCCESS;
    fmt::print("{}", has_rows ? rows(asked) : lines(asked));
  } catch (const std::exception& error) {
    fmt::print(stderr, "draw_chart: {}\n", error.what());
    return 65;
  }
  return 0;
}
