// Solves a table from one release of its sums at the same ρ in two ways: with eigenvalues raised to a floor, and with
// AdaSSP's ridge. Usage: adaptive_ridge [TABLES [JSON file]]; 200 tables for each setting by default.
//
// Rows are x ~ N(0, H), where H has d = 10 eigenvalues from 1 down to 1/condition, equally spaced in the logarithm. y
// = xᵀθ* + N(0, 1), with θ* of length 1 in a random direction; R_x = 1.25√(tr H), R_r = 3, replace-one. The figure is
// the excess of the mean squared error over that of least squares, (θ̂ − θ_ls)ᵀ Ĥ (θ̂ − θ_ls). It is 0 for the
// table's own least squares, and about θ*ᵀHθ* for the answer 0.
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "nustream/inference/least_squares.h"
#include "nustream/moments/lane.h"

namespace {

using namespace nustream;

constexpr std::size_t d = 10;

struct Table {
  std::vector<double> x, y;
  std::vector<double> best;
};

Table draw(std::size_t rows, double condition, std::mt19937_64& bits) {
  std::normal_distribution<double> normal;
  Table table;
  std::vector<double> truth(d);
  double length = 0;
  for (double& entry : truth) {
    entry = normal(bits);
    length += entry * entry;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    double y = normal(bits);
    for (std::size_t j = 0; j < d; ++j) {
      table.x.push_back(normal(bits) * std::pow(condition, -0.5 * static_cast<double>(j) / (d - 1)));
      y += table.x.back() * truth[j] / std::sqrt(length);
    }
    table.y.push_back(y);
  }
  table.best = inference::ordinary_least_squares({d, table.x, table.y}).theta;
  return table;
}

moments::Settings settings_of(std::size_t rows, double condition, double rho, moments::Solution solution) {
  double trace = 0;
  for (std::size_t j = 0; j < d; ++j) trace += std::pow(condition, -static_cast<double>(j) / (d - 1));
  const moments::Design design{{d, 0}, moments::Spread::none, {privacy::Adjacency::replace_one}, solution};
  const noise::Correlation once{noise::Independent{}, StepCount{1}};
  const bool ridge = solution == moments::Solution::adassp;
  moments::Settings settings{.mechanism = {design, {1, 1, rows}, once},
                             .sigmas = {},
                             .stages = {{0, {1.25 * std::sqrt(trace), 1, 3}}},
                             .start = std::vector<double>(d)};
  settings.sigmas = moments::calibrate(settings.mechanism, moments::Shares(ridge ? 3 : 2, 1), Rho{rho});
  return settings;
}

/// The release under fresh noise from `bits`.
moments::Release release_of(const moments::Settings& settings, const Table& table, std::mt19937_64& bits) {
  std::normal_distribution<double> normal;
  const moments::Design& design = settings.mechanism.design;
  const std::vector<noise::Grid> grids = moments::grids(settings);
  const std::vector<moments::Block> noised = moments::noised_blocks(design);
  std::vector<std::vector<std::int64_t>> units;
  std::vector<noise::GridNoise> noise;
  for (std::size_t b = 0; b < noised.size(); ++b) {
    const double stddev = noise_stddev(settings.sigmas[b], moments::displacement(design, noised[b])).value();
    for (units.emplace_back(); units[b].size() < moments::entries(design, noised[b]);) {
      units[b].push_back(static_cast<std::int64_t>(std::llround(stddev * normal(bits) / grids[b].spacing())));
    }
  }
  for (const auto& of_block : units) noise.push_back({StepIndex{0}, of_block.size(), of_block});
  moments::Lane lane(settings, Position{0});
  moments::Releases releases;
  lane.advance({d, table.y.size(), table.x.data(), table.y.data(), nullptr}, noise, releases);
  return releases.at(0);
}

double excess(const Table& table, const std::vector<double>& theta) {
  double squares = 0;
  for (std::size_t i = 0; i < table.y.size(); ++i) {
    double off = 0;
    for (std::size_t j = 0; j < d; ++j) off += table.x[i * d + j] * (theta[j] - table.best[j]);
    squares += off * off;
  }
  return squares / static_cast<double>(table.y.size());
}

std::string shown(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  double squares = 0;
  for (const double value : values) sum += value;
  for (const double value : values) squares += (value - sum / n) * (value - sum / n);
  return fmt::format("{{\"mean\": {:.5f}, \"standard_error\": {:.5f}}}", sum / n, std::sqrt(squares / (n - 1) / n));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t tables = argc > 1 ? std::max<std::uint64_t>(2, std::strtoull(argv[1], nullptr, 10)) : 200;
  std::string rows_text;
  for (const double condition : {1.0, 1000.0}) {
    for (const std::size_t rows : {2'000U, 20'000U}) {
      for (const double rho : {0.01, 0.1, 1.0}) {
        std::map<std::string, std::vector<double>> found;
        for (std::uint64_t r = 0; r < tables; ++r) {
          std::mt19937_64 bits(r * 1'000 + rows);
          const Table table = draw(rows, condition, bits);
          for (const auto solution : {moments::Solution::floored, moments::Solution::adassp}) {
            const auto release = release_of(settings_of(rows, condition, rho, solution), table, bits);
            found[release.ridge ? "adassp" : "floored"].push_back(excess(table, release.theta));
            if (release.ridge) found["ridge"].push_back(*release.ridge / static_cast<double>(rows));
          }
          found["zero"].push_back(excess(table, std::vector<double>(d)));
        }
        rows_text += fmt::format("{}\n  {{\"condition\": {}, \"records\": {}, \"rho\": {}",
                                 rows_text.empty() ? "" : ",", condition, rows, rho);
        for (const auto& [name, values] : found) rows_text += fmt::format(", \"{}\": {}", name, shown(values));
        rows_text += '}';
      }
    }
  }
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(out,
             "{{\"figure\": \"a floor or AdaSSP's ridge: excess of the mean squared error, one release\", "
             "\"tables\": {}, \"rows\": [{}]}}\n",
             tables, rows_text);
  return 0;
}
