// Compares what a plan predicts of five estimators of a linear model with what they do. There are 24 streams of
// independent normal rows: d of 4 or 16 coefficients, 20,000 or 100,000 records, ρ of .1 or 1, condition 1, 10 or 100
// (eigenvalues of E[xxᵀ] in a geometric sequence below 1), residual 1, and answers at a distance of 1 in random
// directions. Every setting is what moments::best_descent and best_sums choose from these figures. The error is √E
// (θ̂ − θ*)ᵀH(θ̂ − θ*) over keys.
//
// Usage: estimator_grid [KEYS [JSON file]], 20 keys by default. Exits with 1 where a prediction is off by more than a
// factor 1.5. Keys and data are fixed, so the result does not vary by chance.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "normal_stream.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

struct Outcome {
  const char* name;
  double predicted;
  bool is_named = true;  ///< whether the plan names it, so that it can be chosen
  double squares = 0;
  [[nodiscard]] double measured(std::uint64_t keys) const { return std::sqrt(squares / static_cast<double>(keys)); }
};

std::vector<Outcome> outcomes_of(const Point& point, std::uint64_t keys) {
  const moments::Problem problem = problem_of(point);
  const moments::DescentChoice last = moments::best_descent(problem, false);
  const moments::DescentChoice average = moments::best_descent(problem, true);
  const moments::SumsChoice plain = *moments::best_sums(problem, 0);
  const moments::SumsChoice staged = *moments::best_sums(problem, 1);
  const moments::SumsChoice twice = *moments::best_sums(problem, 2);
  std::vector<Outcome> outcomes{
      {"last iterate", last.error.root()},
      {"average", average.error.root()},
      {"moments", plain.error.root()},
      {"moments, recentred", staged.error.root()},
      {"moments, recentred twice", twice.error.root(), moments::second_recentring_pays(problem)}};
  for (std::uint64_t key = 1; key <= keys; ++key) {
    const Stream stream = stream_of(problem, key);
    const auto add = [&](std::size_t at, std::span<const double> theta) {
      outcomes[at].squares += squared_error(problem, stream, theta);
    };
    add(0, descended(problem, stream, last, key).last);
    add(1, descended(problem, stream, average, key).average);
    add(2, solved(problem, stream, plain, key));
    add(3, solved(problem, stream, staged, key));
    add(4, solved(problem, stream, twice, key));
  }
  return outcomes;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t keys = argc > 1 ? std::max<std::uint64_t>(1, std::strtoull(argv[1], nullptr, 10)) : 20;
  std::string rows;
  double worst = 1;
  std::uint64_t chosen_is_least = 0;
  std::uint64_t points = 0;
  double dearest = 1;  // error of what was chosen over the least error
  for (const std::size_t dimension : {std::size_t{4}, std::size_t{16}}) {
    for (const std::uint64_t records : {20'000U, 100'000U}) {
      for (const double rho : {0.1, 1.0}) {
        for (const double condition : {1.0, 10.0, 100.0}) {
          const std::vector<Outcome> outcomes = outcomes_of({dimension, records, rho, condition}, keys);
          const auto chosen = std::ranges::min_element(
              outcomes, {}, [](const Outcome& each) { return each.is_named ? each.predicted : INFINITY; });
          const auto least =
              std::ranges::min_element(outcomes, {}, [&](const Outcome& each) { return each.measured(keys); });
          if (chosen == least) ++chosen_is_least;
          dearest = std::max(dearest, chosen->measured(keys) / least->measured(keys));
          rows += fmt::format(
              "{}\n  {{\"dimension\": {}, \"records\": {}, \"rho\": {}, \"condition\": {}, \"chosen\": "
              "\"{}\", \"least\": \"{}\", \"estimators\": [",
              points++ == 0 ? "" : ",", dimension, records, rho, condition, chosen->name, least->name);
          for (const Outcome& each : outcomes) {
            const double ratio = each.measured(keys) / each.predicted;
            worst = std::max({worst, ratio, 1 / ratio});
            rows += fmt::format(
                "{}\n    {{\"name\": \"{}\", \"predicted\": {:.4g}, \"measured\": {:.4g}, \"ratio\": {:.3f}}}",
                &each == outcomes.data() ? "" : ",", each.name, each.predicted, each.measured(keys), ratio);
          }
          rows += "]}";
          std::fprintf(stderr, "%s\n", rows.substr(rows.rfind("\n  {")).c_str());
        }
      }
    }
  }
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(out,
             "{{\"figure\": \"predicted and measured errors of five estimators\", \"keys\": {}, \"points\": {}, "
             "\"worst_factor\": {:.3f}, \"chosen_is_least\": {}, \"dearest_choice\": {:.3f}, \"rows\": [{}]}}\n",
             keys, points, worst, chosen_is_least, dearest, rows);
  return worst <= 1.5 ? 0 : 1;
}
