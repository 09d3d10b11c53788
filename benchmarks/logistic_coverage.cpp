// Measures how often the intervals of `nustream fit --logistic` hold the coefficients that the labels were drawn
// with. The predictor is b₀ + .8 a, and the other features have no part in it. The feature a is normal, or 1 in a
// twentieth of the rows, or lognormal; the constant b₀ makes the label 1 in about a half, a tenth, three or one in a
// hundred rows.
//
// Usage: logistic_coverage [FITS OF EACH KIND [JSON file]], 300 by default. Exits with 1 where the coverage at a
// nominal .95 is below .93 by more than three standard errors of the count. Wider intervals are allowed: the long
// rows of a rare feature count less, so that its slope's noise is smaller than the curvature tells. Where fewer than
// a tenth of the fits show intervals, it is enough that no more than 5% of all have one that misses. Keys and data
// are fixed, so the result does not vary by chance.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "made_feature.h"
#include "nustream/inference/interval.h"
#include "nustream/ranges/likelihood_fit.h"
#include "sums_path.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

constexpr double level = 0.95;
constexpr double slope = 0.8;

struct Cell {
  Feature feature;
  std::size_t features;
  double constant;
  std::uint64_t records;
  double rho;
};

struct Table {
  std::vector<double> x;
  std::vector<double> y;
};

Table table_of(const Cell& cell, std::uint64_t key) {
  std::mt19937_64 engine(key);
  std::normal_distribution<double> normal;
  Table table;
  for (std::uint64_t i = 0; i < cell.records; ++i) {
    const double a = feature_of(cell.feature, engine);
    table.x.push_back(a);
    for (std::size_t j = 1; j < cell.features; ++j) table.x.push_back(normal(engine));
    const double chance = 1 / (1 + std::exp(-cell.constant - slope * a));
    table.y.push_back(std::bernoulli_distribution(chance)(engine) ? 1 : 0);
  }
  return table;
}

struct Tally {
  std::uint64_t fits_shown = 0;
  std::uint64_t held = 0;
  std::uint64_t labels = 0;  ///< that are 1
  double width = 0;          ///< of the intervals of a's slope
};

Tally tally_of(const Cell& cell, std::uint64_t fits) {
  Tally tally;
  const double half_width = inference::student_quantile(std::numeric_limits<double>::infinity(), level);
  for (std::uint64_t key = 1; key <= fits; ++key) {
    const Table table = table_of(cell, key);
    tally.labels += static_cast<std::uint64_t>(std::ranges::count(table.y, 1.0));
    const ranges::TableFit fit =
        ranges::fit_likelihood(ranges::Likelihood::logistic, {cell.features, table.x, table.y}, {Rho{cell.rho}},
                               ranges::keyed_noise(numbered_key(key), LaneId{0}, EpochId{0}));
    if (fit.variances.empty()) continue;
    ++tally.fits_shown;
    for (std::size_t j = 0; j <= cell.features; ++j) {
      const double truth = j == 0 ? cell.constant : j == 1 ? slope : 0;
      const double half = half_width * std::sqrt(fit.variances[j].variance);
      if (std::fabs(fit.theta[j] - truth) <= half) ++tally.held;
      if (j == 1) tally.width += 2 * half;
    }
  }
  return tally;
}

std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (const auto& [records, rho] :
       {std::pair<std::uint64_t, double>{20'000, 0.03}, {20'000, 0.1}, {20'000, 1}, {100'000, 0.01}}) {
    for (const double constant : {0.0, -2.2, -3.5, -4.6}) {
      for (const Feature feature : {Feature::normal, Feature::rare, Feature::lognormal}) {
        for (const std::size_t features : {2U, 5U}) all.push_back({feature, features, constant, records, rho});
      }
    }
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t fits = argc > 1 ? std::max<std::uint64_t>(1, std::strtoull(argv[1], nullptr, 10)) : 300;
  std::string rows;
  bool holds = true;
  for (const Cell& cell : cells()) {
    const Tally tally = tally_of(cell, fits);
    const auto shown = static_cast<double>(tally.fits_shown);
    const auto all = static_cast<double>(fits);
    const double coverage =
        shown > 0 ? static_cast<double>(tally.held) / shown / static_cast<double>(cell.features + 1) : 0;
    // The intervals of one fit depend on each other, so the error counts fits and not intervals.
    const double error = shown > 0 ? std::sqrt(level * (1 - level) / shown) : 0;
    const bool rarely_misses = shown < 0.1 * all && shown * (1 - coverage) <= (1 - level) * all;
    if (shown > 0 && coverage < level - 0.02 - 3 * error && !rarely_misses) holds = false;
    rows += fmt::format(
        "{}\n  {{\"feature\": \"{}\", \"features\": {}, \"share of ones\": {:.3f}, \"records\": {}, \"rho\": {}, "
        "\"shown\": {:.4f}, \"coverage\": {}, \"width\": {}}}",
        rows.empty() ? "" : ",", name_of_feature[static_cast<std::size_t>(cell.feature)], cell.features,
        static_cast<double>(tally.labels) / static_cast<double>(cell.records) / all, cell.records, cell.rho,
        shown / all, shown > 0 ? fmt::format("{:.4f}", coverage) : "null",
        shown > 0 ? fmt::format("{:.5f}", tally.width / shown) : "null");
    std::fprintf(stderr, "%s\n", rows.substr(rows.rfind("\n  {") + 1).c_str());
  }
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(
      out,
      "{{\"figure\": \"coverage of intervals of logistic fits\", \"fits\": {}, \"level\": {}, \"rows\": [{}]}}\n",
      fits, level, rows);
  return holds ? 0 : 1;
}
