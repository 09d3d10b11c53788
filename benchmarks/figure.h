// What the programs have in common that reproduce a paper's figures: arguments, and a figure as JSON and as a
// picture.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "line_chart.h"

namespace nustream::benchmarks {

/// The arguments PROGRAM [FIGURE…] [--quick] [--out FOLDER] [--data FOLDER], or --help.
struct FigureArguments {
  bool quick = false;
  std::string out = ".";
  std::string data = "../shared/data";
  std::vector<std::string> figures;  ///< empty: all
};

/// One figure: its numbers and what they look like.
struct Figure {
  std::string json;
  Picture chart;
};

struct NamedFigure {
  std::string name;
  std::function<std::vector<std::pair<std::string, Figure>>(const FigureArguments&)> draw;  ///< file name and figure
};
/// A figure that is a single file.
inline NamedFigure single(std::string name, std::function<Figure(const FigureArguments&)> draw) {
  return {name, [name, draw](const FigureArguments& arguments) {
            std::vector<std::pair<std::string, Figure>> one;
            one.emplace_back(name, draw(arguments));
            return one;
          }};
}

/// The slope of log y against log x by least squares.
inline double log_slope(const std::vector<Point>& points) {
  double sx = 0;
  double sy = 0;
  double sxx = 0;
  double sxy = 0;
  for (const Point& point : points) {
    const double x = std::log(point.x);
    const double y = std::log(point.y);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  const auto n = static_cast<double>(points.size());
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

/// The series as JSON: [{"series": …, "points": [[x, y, standard error], …]}, …]
inline std::string series_json(const std::vector<Series>& all) {
  std::string rows;
  for (const Series& one : all) {
    rows += fmt::format("{}\n    {{\"series\": \"{}\", \"points\": [", rows.empty() ? "" : ",", one.name);
    for (std::size_t i = 0; i < one.points.size(); ++i) {
      rows += fmt::format("{}[{:g}, {:.8g}, {:.2g}]", i == 0 ? "" : ", ", one.points[i].x, one.points[i].y,
                          one.points[i].error);
    }
    rows += "]}";
  }
  return "[" + rows + "]";
}

/// What --help prints.
inline void print_help(const std::string& prefix, const std::vector<NamedFigure>& known) {
  fmt::print(
      "reproduce_{} [FIGURE…] [--quick] [--out FOLDER] [--data FOLDER]: draws figures as JSON and SVG into FOLDER "
      "(here, unless --out is given). --quick takes small counts. --data is the folder of the tables that the "
      "project does not ship. The figures, all of which are drawn unless some are named:",
      prefix);
  for (const NamedFigure& figure : known) fmt::print(" {}", figure.name);
  fmt::print("\n");
}

inline FigureArguments parsed_arguments(int argc, char** argv) {
  FigureArguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") {
      arguments.quick = true;
    } else if (argument == "--out" && i + 1 < argc) {
      arguments.out = argv[++i];
    } else if (argument == "--data" && i + 1 < argc) {
      arguments.data = argv[++i];
    } else {
      arguments.figures.push_back(argument);
    }
  }
  return arguments;
}

/// Writes OUT/PREFIX_FILE.json and .svg.
inline bool write_figure(const Figure& figure, const std::string& stem) {
  std::FILE* const out = std::fopen((stem + ".json").c_str(), "w");
  if (out == nullptr) return false;
  fmt::print(out, "{}", figure.json);
  return std::fclose(out) == 0 && write_svg(figure.chart, stem + ".svg");
}

/// The whole program: it writes OUT/PREFIX_NAME.json and .svg of each figure that is asked for, and returns the exit
/// code of main().
inline int draw_figures(const std::string& prefix, const std::vector<NamedFigure>& known, int argc, char** argv) {
  FigureArguments arguments = parsed_arguments(argc, argv);
  if (std::ranges::find(arguments.figures, "--help") != arguments.figures.end()) {
    print_help(prefix, known);
    return 0;
  }
  std::error_code failed;  // where the folder cannot be made, write_figure() fails
  std::filesystem::create_directories(arguments.out, failed);
  if (arguments.figures.empty()) {
    for (const NamedFigure& figure : known) arguments.figures.push_back(figure.name);
  }
  for (const std::string& name : arguments.figures) {
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const NamedFigure& figure) { return figure.name == name; });
    if (found == known.end()) {
      fmt::print(stderr, "reproduce_{}: no figure named {}; --help lists them\n", prefix, name);
      return 64;
    }
    for (const auto& [file, figure] : found->draw(arguments)) {
      const std::string stem = fmt::format("{}/{}_{}", arguments.out, prefix, file);
      if (!write_figure(figure, stem)) {
        fmt::print(stderr, "reproduce_{}: cannot write into {}\n", prefix, arguments.out);
        return 74;
      }
    }
    fmt::print("{}\n", name);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace nustream::benchmarks
