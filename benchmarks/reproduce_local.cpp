// Usage: reproduce_local [REPETITIONS [DRAWN_UP_TO [JSON file]]]; see local_figure.h.

#include <cstdio>
#include <cstdlib>

#include "local_figure.h"

int main(int argc, char** argv) {
  nustream::benchmarks::LocalFigure figure;
  if (argc > 1) figure.repetitions = std::strtoull(argv[1], nullptr, 10);
  if (argc > 2) figure.drawn_up_to = std::strtod(argv[2], nullptr);
  std::FILE* const out = argc > 3 ? std::fopen(argv[3], "w") : stdout;
  if (out == nullptr || figure.repetitions < 2) return 74;
  std::fputs(nustream::benchmarks::local_figure(figure).c_str(), out);
  return std::fclose(out) == 0 ? 0 : 74;
}
