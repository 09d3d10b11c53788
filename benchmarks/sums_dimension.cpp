// Compares running sums with the best of a grid of descents where sums are at their weakest: 50 coefficients, and
// features of condition 100. Every stream has 100,000 records and ρ = .1. The descents average their iterates, with
// the correlation that is best for the average; step size, clip norm and the beginning of the average are the best of
// 96 by the outcome. The settings of running sums follow from public guesses alone: they are those of a plan, without
// recentring, recentred once and recentred twice. The error is (θ − s)ᵀH(θ − s)/σ², with s, H and σ² the least
// squares of the stream, its mean of xxᵀ and its mean squared residual: a mean over keys.
//
// Usage: sums_dimension [KEYS [JSON file]], 20 keys by default. Exits with 1 where the best of running sums has more
// than 2 times the error of the best descent (50 coefficients), or 1.6 times (condition 100), and where a prediction
// of the plan is off by more than a factor 1.5. Keys and data are fixed.
#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "normal_stream.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

/// Least squares of a stream.
struct Answer {
  Eigen::MatrixXd second;  // mean of xxᵀ
  Eigen::VectorXd theta;
  double variance;

  explicit Answer(const record::RowBatch& rows) {
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto n = static_cast<Eigen::Index>(rows.count());
    const Eigen::Map<const RowMajor> x(rows.x.data(), n, static_cast<Eigen::Index>(rows.dimension));
    const Eigen::Map<const Eigen::VectorXd> y(rows.y.data(), n);
    second = x.transpose() * x / static_cast<double>(n);
    theta = second.llt().solve(x.transpose() * y / static_cast<double>(n));
    variance = (y - x * theta).squaredNorm() / static_cast<double>(n);
  }
  [[nodiscard]] double excess(const std::vector<double>& found) const {
    const Eigen::VectorXd off = Eigen::Map<const Eigen::VectorXd>(found.data(), theta.size()) - theta;
    return off.dot(second * off) / variance;
  }
};

/// The descents of the grid, each with the ν that is best for its average.
std::vector<moments::DescentChoice> grid_of(const moments::Problem& problem) {
  double trace = 0;
  for (const double each : problem.guess.eigenvalues) trace += each;
  std::vector<moments::DescentChoice> grid;
  for (int halvings = 0; halvings < 8; ++halvings) {
    for (const double clip : {1.0, 2.0, 4.0}) {
      for (const std::uint64_t part : {2U, 4U, 10U, 20U}) {
        moments::Problem settled = problem;
        settled.settled.step_size = std::ldexp(1.0, -halvings) / trace;
        settled.settled.clip_norm = clip * std::sqrt(trace);
        settled.settled.from = problem.records / part;
        grid.push_back(moments::best_descent(settled, true));
      }
    }
  }
  return grid;
}

struct Outcome {
  Estimate descent;
  moments::DescentChoice chosen;
  std::vector<Estimate> sums;  ///< by the number of recentrings
  std::vector<double> off;  ///< √E (θ̂ − θ*)ᵀH(θ̂ − θ*) of each of them, as a multiple of what the plan predicts
};

Outcome outcome_of(const moments::Problem& problem, std::uint64_t keys) {
  const std::vector<moments::DescentChoice> grid = grid_of(problem);
  std::vector<moments::SumsChoice> choices;
  for (std::size_t recentrings = 0; recentrings <= moments::most_recentrings; ++recentrings) {
    choices.push_back(*moments::best_sums(problem, recentrings));
  }
  std::vector<std::vector<double>> of_descents(grid.size());
  std::vector<std::vector<double>> of_sums(choices.size());
  std::vector<double> squares(choices.size());
  for (std::uint64_t key = 1; key <= keys; ++key) {
    const Stream stream = stream_of(problem, key);
    const Answer answer(stream.rows);
    for (std::size_t i = 0; i < grid.size(); ++i) {
      of_descents[i].push_back(answer.excess(descended(problem, stream, grid[i], key).average));
    }
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const std::vector<double> found = solved(problem, stream, choices[i], key);
      of_sums[i].push_back(answer.excess(found));
      squares[i] += squared_error(problem, stream, found) / static_cast<double>(keys);
    }
  }
  std::size_t best = 0;
  for (std::size_t i = 1; i < grid.size(); ++i) {
    if (estimate(of_descents[i]).mean < estimate(of_descents[best]).mean) best = i;
  }
  std::vector<Estimate> sums;
  std::vector<double> off;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    sums.push_back(estimate(of_sums[i]));
    off.push_back(std::sqrt(squares[i] / choices[i].error.total()));
  }
  return {estimate(of_descents[best]), grid[best], std::move(sums), std::move(off)};
}

std::string shown(const Estimate& found) {
  return fmt::format("{{\"mean\": {:.4g}, \"standard_error\": {:.2g}}}", found.mean, found.standard_error);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t keys = argc > 1 ? std::max<std::uint64_t>(2, std::strtoull(argv[1], nullptr, 10)) : 20;
  struct Case {
    Point point;
    double bar;
  };
  bool holds = true;
  std::string rows;
  for (const Case& each : {Case{{50, 100'000, 0.1, 1}, 2}, Case{{10, 100'000, 0.1, 100}, 1.6}}) {
    const Outcome found = outcome_of(problem_of(each.point), keys);
    const double ratio = std::ranges::min_element(found.sums, {}, &Estimate::mean)->mean / found.descent.mean;
    const auto is_off = [](double factor) { return factor > 1.5 || factor < 1 / 1.5; };
    if (ratio > each.bar || std::ranges::any_of(found.off, is_off)) holds = false;
    rows += fmt::format(
        "{}\n  {{\"dimension\": {}, \"condition\": {}, \"records\": {}, \"rho\": {},\n   \"descent\": {}, "
        "\"step_size\": {:.4g}, \"clip_norm\": {:.4g}, \"nu\": {:.3g}, \"average_from\": {},\n   \"moments\": {}, "
        "\"recentred\": {}, \"recentred_twice\": {},\n   \"measured_over_predicted\": [{:.3f}], \"ratio\": {:.3f}, "
        "\"bar\": {}}}",
        rows.empty() ? "" : ",", each.point.dimension, each.point.condition, each.point.records, each.point.rho,
        shown(found.descent), found.chosen.step_size.value(), found.chosen.clip.value(), found.chosen.nu.value(),
        found.chosen.from, shown(found.sums[0]), shown(found.sums[1]), shown(found.sums[2]),
        fmt::join(found.off, ", "), ratio, each.bar);
    std::fprintf(stderr, "%s\n", rows.substr(rows.rfind("\n  {") + 1).c_str());
  }
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(out,
             "{{\"figure\": \"running sums beside the best descent of a grid\", \"keys\": {}, \"rows\": [{}]}}\n",
             keys, rows);
  return holds ? 0 : 1;
}
