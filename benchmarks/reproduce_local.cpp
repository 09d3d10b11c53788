// The figures of NLDP (generalised linear models in local privacy): reproduce_local [--quick] [--repetitions N]
// [--drawn-up-to N] [--out FOLDER] [--data FOLDER] [public_rows or covertype: that figure alone]. Each becomes
// FOLDER/local_FIGURE.json and .svg; local_figure.h says what they show. "covertype" needs its table in the data
// folder.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "local_figure.h"

namespace {

using namespace nustream::benchmarks;

bool write(const std::string& folder, const DrawnFigure& figure) {
  const std::string stem = folder + "/local_" + figure.name;
  std::FILE* const out = std::fopen((stem + ".json").c_str(), "w");
  if (out == nullptr) return false;
  std::fputs(figure.json.c_str(), out);
  return std::fclose(out) == 0 && write_svg(figure.chart, stem + ".svg");
}

}  // namespace

int main(int argc, char** argv) {
  LocalFigure figure;
  std::size_t as_drawn = 0;
  std::string folder = ".";
  std::string data = "../shared/data";
  std::string only;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") {
      figure.repetitions = 20;
      figure.drawn_up_to = 1e4;
      as_drawn = 4;
    } else if (argument == "--repetitions" && i + 1 < argc) {
      figure.repetitions = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--drawn-up-to" && i + 1 < argc) {
      figure.drawn_up_to = std::strtod(argv[++i], nullptr);
    } else if (argument == "public_rows" || argument == "covertype") {
      only = argument;
    } else if (argument == "--data" && i + 1 < argc) {
      data = argv[++i];
    } else if (argument == "--out" && i + 1 < argc) {
      folder = argv[++i];
    } else {
      fmt::print(stderr, "reproduce_local: {}: see the head of its source\n", argument);
      return 64;
    }
  }
  if (figure.repetitions < 2) return 64;
  std::vector<DrawnFigure> all;
  if (only.empty()) {
    all = local_figures(figure);
    for (DrawnFigure& drawn : figures_as_drawn(as_drawn)) all.push_back(std::move(drawn));
  }
  if (only == "public_rows") all.push_back(figure_of_public_rows(as_drawn));
  if (only.empty() || only == "covertype") {
    auto drawn = figure_of_covertype(data, as_drawn == 0 ? 200 : as_drawn);
    if (!drawn) {
      fmt::print(stderr, "reproduce_local: cannot read {}/covtype_15120.csv; name its folder with --data\n", data);
      return 66;
    }
    all.push_back(std::move(*drawn));
  }
  for (const DrawnFigure& drawn : all) {
    if (!write(folder, drawn)) {
      fmt::print(stderr, "reproduce_local: cannot write into {}\n", folder);
      return 74;
    }
    fmt::print("{}\n", drawn.name);
  }
}
