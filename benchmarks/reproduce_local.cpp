// Reproduces the figures of NLDP (generalised linear models in local privacy): reproduce_local [--quick]
// [--repetitions N] [--drawn-up-to N] [--out FOLDER]. Each becomes FOLDER/local_FIGURE.json and .svg; local_figure.h
// says what they show.
#include <cstdio>
#include <cstdlib>
#include <string>

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
  std::string folder = ".";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") {
      figure.repetitions = 20;
      figure.drawn_up_to = 1e4;
    } else if (argument == "--repetitions" && i + 1 < argc) {
      figure.repetitions = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--drawn-up-to" && i + 1 < argc) {
      figure.drawn_up_to = std::strtod(argv[++i], nullptr);
    } else if (argument == "--out" && i + 1 < argc) {
      folder = argv[++i];
    } else {
      fmt::print(stderr, "reproduce_local: {}: see the head of its source\n", argument);
      return 64;
    }
  }
  if (figure.repetitions < 2) return 64;
  for (const DrawnFigure& drawn : local_figures(figure)) {
    if (!write(folder, drawn)) {
      fmt::print(stderr, "reproduce_local: cannot write into {}\n", folder);
      return 74;
    }
    fmt::print("{}\n", drawn.name);
  }
}
