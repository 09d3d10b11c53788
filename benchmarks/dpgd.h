// What the figures of BDE+ share: problems, DP-GD on them, and samples as points of a figure.
#pragma once

#include <Eigen/Dense>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "figure.h"
#include "full_batch.h"
#include "nustream/inference/adassp.h"

namespace nustream::benchmarks {

inline const noise::Correlation independent{noise::Independent{}};
constexpr double eta = 0.25;

/// A table of a linear model, θ* and the least squares of the table.
struct Problem {
  MemoryTable table;
  std::vector<double> truth;
  std::vector<double> least_squares;
};

/// A root of Σ, which takes standard normal numbers to features.
inline Eigen::MatrixXd spread_of(std::size_t p, bool anisotropic, std::mt19937_64& bits) {
  const auto d = static_cast<Eigen::Index>(p);
  if (!anisotropic) return Eigen::MatrixXd::Identity(d, d);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(1, 2);
  Eigen::MatrixXd gauss(d, d);
  for (double& entry : gauss.reshaped()) entry = normal(bits);
  const Eigen::MatrixXd rotation = gauss.householderQr().householderQ();
  Eigen::VectorXd roots(d);
  for (Eigen::Index i = 0; i < d; ++i) roots(i) = std::sqrt(i == 0 ? 2.0 : i == 1 ? 1.0 : uniform(bits));
  return rotation * roots.asDiagonal();
}

/// `n` records of `p` features.
inline Problem draw(std::size_t p, std::size_t n, bool anisotropic, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  Problem problem;
  problem.table.dimension = p;
  Eigen::VectorXd truth(static_cast<Eigen::Index>(p));
  for (double& entry : truth) entry = normal(bits);
  truth /= truth.norm();
  const Eigen::MatrixXd spread = spread_of(p, anisotropic, bits);
  Eigen::VectorXd draw(truth.size());
  for (std::size_t i = 0; i < n; ++i) {
    for (double& entry : draw) entry = normal(bits);
    const Eigen::VectorXd x = anisotropic ? Eigen::VectorXd(spread * draw) : draw;
    problem.table.x.insert(problem.table.x.end(), x.data(), x.data() + x.size());
    problem.table.y.push_back(x.dot(truth) + normal(bits));
  }
  problem.truth.assign(truth.data(), truth.data() + truth.size());
  problem.least_squares = inference::ordinary_least_squares(problem.table.view()).theta;
  return problem;
}

/// DP-GD over `problem`; without `key` the noise is off.
inline Iterates dpgd(const Problem& problem, double gamma, double rho, std::uint64_t steps,
                     std::optional<std::uint64_t> key, const noise::Correlation& correlation = independent) {
  const StageBudget budget{rho};
  return full_batch_descent(plain_descent(problem.table.dimension, gamma, eta), problem.table, steps, correlation,
                            {&budget, 1}, key);
}

inline std::string point_json(const char* axis, double x, const std::map<std::string, std::vector<double>>& samples) {
  std::string out = fmt::format("{{\"{}\": {}", axis, x);
  for (const auto& [name, values] : samples) {
    const Estimate found = estimate(values);
    out += fmt::format(", \"{}\": {{\"mean\": {:.6g}, \"standard_error\": {:.2g}}}", name, found.mean,
                       found.standard_error);
  }
  return out + fmt::format(", \"repetitions\": {}}}", samples.begin()->second.size());
}

/// The points of one figure, from the samples at each.
struct Collected {
  std::string rows;
  std::map<std::string, Series> series;
  void add(const char* axis, double x, const std::map<std::string, std::vector<double>>& samples) {
    rows += (rows.empty() ? "\n    " : ",\n    ") + point_json(axis, x, samples);
    for (const auto& [name, values] : samples) {
      const Estimate found = estimate(values);
      series[name].name = name;
      series[name].points.push_back({x, found.mean, found.standard_error});
    }
  }
  [[nodiscard]] std::vector<Series> all() const {
    std::vector<Series> list;
    for (const auto& [name, one] : series) list.push_back(one);
    return list;
  }
  [[nodiscard]] double slope(const std::string& name) const { return log_slope(series.at(name).points); }
};

/// The JSON of a figure.
inline std::string wrapped(const char* title, const std::string& rows, const std::string& more = "") {
  return fmt::format("{{\"figure\": \"{}\", \"source\": \"BDE+\"{},\n  \"points\": [{}]}}\n", title, more, rows);
}

/// The coverage and width against the number of steps, at p = 10, n = 10,000, ρ = .015, m = 10, burn-in 20.
[[nodiscard]] std::pair<Figure, Figure> coverage_figures(bool quick, bool anisotropic);

/// Intervals from means of the last iterates instead of the last iterate alone (section 3.1, appendix B). Ten runs of
/// N/10 steps each average their iterates after a burn-in of 20 steps; N = 120 has no room for that. Ten checkpoints
/// of one run each average the iterates over half of the distance between two of them. The last iterates and batch
/// means are shown beside them. The setting is that of coverage_figures().
[[nodiscard]] Figure ends_figure(bool quick);

}  // namespace nustream::benchmarks
