// Measures how often the Anderson–Rubin set of running sums holds the effect of an endogenous regressor, under
// privacy noise, with instruments of every strength: z = (1, instruments), x = strength · (sum of the instruments) +
// u, y = 1 + x
// + ½u + noise, so that the least squares of y on x are biased. A table is one step, or ten in two stages. The
// residuals' variance is estimated, or only bounded.
//
// Usage: instruments_coverage [STREAMS OF EACH KIND [JSON file]], 1,000 by default. Exits with 1 where the coverage
// is more than three standard errors of the count below .95, or above it where no variance was bounded: a bound in an
// estimate's place makes sets too wide. Keys and data are fixed, so the result does not vary by chance.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "private_path.h"
#include "sums_path.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

constexpr double effect = 1;
constexpr double level = 0.95;
constexpr std::uint64_t records = 5'000;

struct Cell {
  moments::Spread spread;
  std::uint64_t steps;
  std::size_t instruments;
  double strength;
  double rho;
};

record::RowBatch rows_of(const Cell& cell, std::uint64_t key) {
  std::mt19937_64 engine(key);
  std::normal_distribution<double> normal;
  record::RowBatch rows;
  rows.dimension = cell.instruments + 2;
  for (std::uint64_t i = 0; i < records; ++i) {
    const double u = normal(engine);
    double x = u;
    rows.x.push_back(1);
    for (std::size_t j = 0; j < cell.instruments; ++j) {
      rows.x.push_back(normal(engine));
      x += cell.strength * rows.x.back();
    }
    rows.x.push_back(x);
    rows.y.push_back(1 + effect * x + 0.5 * u + 0.5 * normal(engine));
    rows.next.push_back(i + 1);
  }
  return rows;
}

moments::Release released(const Cell& cell, std::uint64_t key) {
  const std::uint64_t every = records / cell.steps;
  const moments::Design design{{cell.instruments + 1, 1}, cell.spread, {}};
  noise::Correlation correlation{noise::Rational::nu_ftrl(Damping{0.8 / static_cast<double>(cell.steps)}, 5),
                                 StepCount{cell.steps}};
  moments::Mechanism mechanism{design, {1, 1, every}, std::move(correlation)};
  const std::vector<double> shares = cell.spread == moments::Spread::none ? std::vector<double>{.4, .3, .3}
                                                                          : std::vector<double>{.38, .285, .285, .05};
  std::vector<NoiseMultiplier> sigmas = calibrate(mechanism, shares, Rho{cell.rho});
  const moments::Radii radii{3, 3, 5};
  std::vector<moments::StageStart> stages{{0, radii}};
  if (cell.steps > 1) stages.push_back({cell.steps / 10, radii});
  moments::Settings settings{.mechanism = std::move(mechanism),
                             .sigmas = std::move(sigmas),
                             .stages = std::move(stages),
                             .start = std::vector<double>(design.shape.coefficients())};
  settings.constant = 0;
  settings.controls = 1;
  settings.anderson_rubin = level;
  return last_release(settings, rows_of(cell, key), key);
}

struct Tally {
  std::uint64_t shown = 0, held = 0, unbounded = 0, bounded_variance = 0;
  std::vector<double> strengths, widths;
};

bool holds(const moments::AndersonRubinSet& set) {
  using Kind = moments::AndersonRubinSet::Kind;
  const bool between = set.lower <= effect && effect <= set.upper;
  if (set.kind == Kind::interval) return between;
  return set.kind == Kind::everything || (set.kind == Kind::outside && !(set.lower < effect && effect < set.upper));
}

Tally tally_of(const Cell& cell, std::uint64_t streams) {
  Tally tally;
  for (std::uint64_t key = 1; key <= streams; ++key) {
    const moments::Release release = released(cell, key);
    if (release.structural && !release.structural->effective_f.empty()) {
      tally.strengths.push_back(release.structural->effective_f.front());
    }
    if (!release.set) continue;
    using Kind = moments::AndersonRubinSet::Kind;
    ++tally.shown;
    if (holds(*release.set)) ++tally.held;
    if (release.set->bounded) ++tally.bounded_variance;
    const Kind kind = release.set->kind;
    if (kind == Kind::outside || kind == Kind::everything) ++tally.unbounded;
    if (kind == Kind::interval) tally.widths.push_back(release.set->upper - release.set->lower);
  }
  return tally;
}

/// Of as many values as come; a JSON null where there are none.
std::string median(std::vector<double> values) {
  if (values.empty()) return "null";
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return fmt::format("{:.4g}", *middle);
}

std::vector<Cell> cells() {
  using moments::Spread;
  std::vector<Cell> all;
  for (const auto& [spread, steps] : {std::pair{Spread::none, 1}, {Spread::residuals, 1}, {Spread::residuals, 10}}) {
    for (const std::size_t instruments : {1U, 3U}) {
      for (const double strength : {0.0, 0.05, 0.5}) {
        for (const double rho : {0.1, 1.0}) {
          all.push_back({spread, static_cast<std::uint64_t>(steps), instruments, strength, rho});
        }
      }
    }
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t streams = argc > 1 ? std::max<std::uint64_t>(1, std::strtoull(argv[1], nullptr, 10)) : 1000;
  std::string rows;
  bool is_met = true;
  for (const Cell& cell : cells()) {
    const Tally tally = tally_of(cell, streams);
    const auto shown = static_cast<double>(tally.shown);
    const double coverage = shown > 0 ? static_cast<double>(tally.held) / shown : 0;
    const double error = shown > 0 ? std::sqrt(level * (1 - level) / shown) : 0;
    if (shown > 0 && coverage < level - 3 * error) is_met = false;
    const bool is_estimated = shown > 0 && tally.bounded_variance == 0;
    if (is_estimated && coverage > level + 3 * error) is_met = false;
    rows += fmt::format(
        "{}\n  {{\"variance\": \"{}\", \"steps\": {}, \"instruments\": {}, \"strength\": {}, \"rho\": {}, \"shown\": "
        "{:.4f}, \"coverage\": {:.4f}, \"standard_error\": {:.4f}, \"fell_back\": {:.4f}, \"unbounded\": {:.4f}, "
        "\"effective_f\": {}, \"width\": {}}}",
        rows.empty() ? "" : ",", cell.spread == moments::Spread::none ? "bounded" : "estimated", cell.steps,
        cell.instruments, cell.strength, cell.rho, shown / static_cast<double>(streams), coverage, error,
        cell.spread == moments::Spread::none || shown == 0 ? 0 : static_cast<double>(tally.bounded_variance) / shown,
        shown > 0 ? static_cast<double>(tally.unbounded) / shown : 0, median(tally.strengths), median(tally.widths));
    std::fprintf(stderr, "%s\n", rows.substr(rows.rfind("\n  {") + 1).c_str());
  }
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(out,
             "{{\"figure\": \"coverage of Anderson-Rubin sets from running sums\", \"streams\": {}, \"records\": {}, "
             "\"level\": {}, \"rows\": [{}]}}\n",
             streams, records, level, rows);
  return is_met ? 0 : 1;
}
