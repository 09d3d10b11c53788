// Measures how often intervals beside models that are solved from sums hold the population's coefficients: running
// sums of streams, and fits of whole tables. The rows are 1 and two features: both normal, or one of them is 1 in a
// twentieth of the rows and else 0, or lognormal. The residual's deviation is one number, or grows with that feature,
// or its tails are those of Student's t with three degrees of freedom, or residuals are skewed: lognormal, or with
// three in a hundred that lie far above all others.
//
// Usage: sums_coverage [STREAMS OF EACH KIND [JSON file]], 1,000 by default. Exits with 1 where the coverage at a
// nominal .95 is outside .93–.97 by more than three standard errors of the count. Where fewer than a tenth of the
// intervals of a kind are shown, noise may have decided which ones. Then it is enough that no more than 5% of all
// streams have an interval that misses. Keys and data are fixed, so the result does not vary by chance.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "made_feature.h"
#include "nustream/inference/interval.h"
#include "nustream/ranges/linear_fit.h"
#include "private_path.h"
#include "sums_path.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

constexpr std::size_t d = 3;
constexpr double truth[d] = {0.5, -1, 2};
constexpr double level = 0.95;

enum class Residuals { alike, growing, heavy, lognormal, far_above };
constexpr const char* name_of[] = {"alike", "growing with a feature", "t(3)", "lognormal", "a few far above"};

struct Cell {
  const char* estimator;
  moments::Spread spread;
  Feature feature;
  Residuals residuals;
  std::uint64_t records;
  double rho;
};

/// How the deviation grows: as the feature, as its root, or threefold where it is 1.
double growth(Feature kind, double feature) {
  if (kind == Feature::rare) return 1 + 2 * feature;
  return kind == Feature::lognormal ? std::sqrt(feature) : std::fabs(feature);
}

double residual(const Cell& cell, double feature, std::mt19937_64& engine) {
  std::normal_distribution<double> normal;
  if (cell.residuals == Residuals::heavy) return 0.5 * std::student_t_distribution<double>(3)(engine);
  if (cell.residuals == Residuals::lognormal) return 0.5 * (std::exp(normal(engine)) - std::exp(0.5));
  if (cell.residuals == Residuals::far_above) {
    const bool is_far = std::bernoulli_distribution(0.03)(engine);
    return 0.5 * normal(engine) + (is_far ? std::exponential_distribution<double>(0.2)(engine) : 0) - 0.15;
  }
  return 0.5 * normal(engine) * (cell.residuals == Residuals::growing ? growth(cell.feature, feature) : 1);
}

record::RowBatch rows_of(const Cell& cell, std::uint64_t key) {
  std::mt19937_64 engine(key);
  std::normal_distribution<double> normal;
  record::RowBatch rows;
  rows.dimension = d;
  for (std::uint64_t i = 0; i < cell.records; ++i) {
    const double u = feature_of(cell.feature, engine);
    const double x[d] = {1, u, 0.6 * u + 0.8 * normal(engine)};
    double y = residual(cell, u, engine);
    for (std::size_t j = 0; j < d; ++j) y += truth[j] * x[j];
    rows.x.insert(rows.x.end(), x, x + d);
    rows.y.push_back(y);
    rows.next.push_back(i + 1);
  }
  return rows;
}

/// The estimate of one stream, and its variances, which are empty where the interval is withheld.
struct Found {
  std::vector<double> theta;
  std::vector<inference::EstimatedVariance> variances;
};

/// A hundred releases, in three stages. The residual's bound is four deviations from the second stage on, as a plan
/// suggests (moments/choice.h).
Found streamed(const Cell& cell, std::uint64_t key) {
  const std::uint64_t every = cell.records / 100;
  const moments::Design design{{d, 0}, cell.spread, {}};
  moments::Mechanism mechanism{design, {1, 1, every}, noise::Correlation{noise::Rational::nu_ftrl(Damping{1e-3})}};
  std::vector<NoiseMultiplier> sigmas = calibrate(mechanism, {.45, .45, .1}, Rho{cell.rho});
  const moments::Radii later{3, 1, cell.residuals == Residuals::heavy ? 3.5 : 2};
  moments::Settings settings{
      std::move(mechanism),  std::move(sigmas), {{0, {3, 1, 6}}, {5, later}, {20, later}}, 0, {},
      std::vector<double>(d)};
  settings.constant = 0;
  const moments::Release last = last_release(settings, rows_of(cell, key), key);
  return {last.theta, last.variances};
}

Found fitted(const Cell& cell, std::uint64_t key) {
  const record::RowBatch rows = rows_of(cell, key);
  std::vector<double> features;
  for (std::size_t i = 0; i < rows.x.size(); ++i) {
    if (i % d > 0) features.push_back(rows.x[i]);
  }
  const ranges::TableFit fit = ranges::fit_linear({d - 1, features, rows.y}, {Rho{cell.rho}},
                                                  ranges::keyed_noise(numbered_key(key), LaneId{0}, EpochId{0}));
  return {fit.theta, fit.variances};
}

struct Tally {
  std::uint64_t shown = 0;
  std::uint64_t held = 0;
  double width = 0;
};

Tally tally_of(const Cell& cell, std::uint64_t streams) {
  Tally tally;
  for (std::uint64_t key = 1; key <= streams; ++key) {
    const Found found = cell.spread == moments::Spread::none ? fitted(cell, key) : streamed(cell, key);
    for (std::size_t j = 0; j < found.variances.size(); ++j) {
      const inference::EstimatedVariance& known = found.variances[j];
      const double half = inference::student_quantile(known.degrees_of_freedom, level) * std::sqrt(known.variance);
      ++tally.shown;
      if (std::fabs(found.theta[j] - truth[j]) <= half) ++tally.held;
      tally.width += 2 * half;
    }
  }
  return tally;
}

std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (const double rho : {0.01, 0.03, 0.1, 1.0}) {
    const bool few_alone = rho == 0.03;  // where the bound of residuals is narrow, but not too narrow
    for (const Residuals kind : {Residuals::alike, Residuals::growing, Residuals::heavy}) {
      const auto normal = Feature::normal;
      if (!few_alone) {
        all.push_back({"running sums, sandwich", moments::Spread::sandwich, normal, kind, 100'000, rho});
        if (kind != Residuals::growing)
          all.push_back({"running sums, residuals", moments::Spread::residuals, normal, kind, 100'000, rho});
      }
      for (const std::uint64_t records : {20'000U, 100'000U}) {
        if (few_alone && records > 20'000) continue;
        for (const Feature feature : {Feature::normal, Feature::rare, Feature::lognormal}) {
          all.push_back({"fit", moments::Spread::none, feature, kind, records, rho});
        }
      }
    }
    for (const Residuals kind : {Residuals::lognormal, Residuals::far_above}) {
      for (const std::uint64_t records : {20'000U, 100'000U})
        all.push_back({"fit", moments::Spread::none, Feature::normal, kind, records, rho});
    }
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t streams = argc > 1 ? std::max<std::uint64_t>(1, std::strtoull(argv[1], nullptr, 10)) : 1000;
  std::string rows;
  bool holds = true;
  for (const Cell& cell : cells()) {
    const Tally tally = tally_of(cell, streams);
    const auto shown = static_cast<double>(tally.shown);
    const double coverage = shown > 0 ? static_cast<double>(tally.held) / shown : 0;
    // The intervals of one stream depend on each other, so the error counts streams and not intervals.
    const double error = shown > 0 ? std::sqrt(level * (1 - level) * d / shown) : 0;
    const double intervals = static_cast<double>(streams * d);
    const bool rarely_misses = shown < 0.1 * intervals && shown * (1 - coverage) <= (1 - level) * intervals;
    if (shown > 0 && std::fabs(coverage - level) > 0.02 + 3 * error && !rarely_misses) holds = false;
    rows += fmt::format(
        "{}\n  {{\"estimator\": \"{}\", \"feature\": \"{}\", \"residuals\": \"{}\", \"records\": {}, \"rho\": {}, "
        "\"shown\": {:.4f}, \"coverage\": {}, \"width\": {}}}",
        rows.empty() ? "" : ",", cell.estimator, name_of_feature[static_cast<std::size_t>(cell.feature)],
        name_of[static_cast<std::size_t>(cell.residuals)], cell.records, cell.rho, shown / intervals,
        shown > 0 ? fmt::format("{:.4f}", coverage) : "null",
        shown > 0 ? fmt::format("{:.5f}", tally.width / shown) : "null");
    std::fprintf(stderr, "%s\n", rows.substr(rows.rfind("\n  {") + 1).c_str());
  }
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(
      out, "{{\"figure\": \"coverage of intervals beside sums\", \"streams\": {}, \"level\": {}, \"rows\": [{}]}}\n",
      streams, level, rows);
  return holds ? 0 : 1;
}
