// Reproduces the figures of BDE+ (DP-GD for linear regression): reproduce_dpgd FIGURE… [--quick] [--out FOLDER]. Each
// becomes FOLDER/dpgd_FIGURE.json and .svg. The setting is x ~ N(0, I), y = xᵀθ* + N(0, 1) with θ* on the unit
// sphere, η = ¼, θ_0 = 0, replace-one. "anisotropic" draws Σ = UΛUᵀ with Λ = 2, 1, U[1, 2]… as appendix B does.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "dpgd.h"
#include "figure.h"
#include "nustream/inference/adassp.h"
#include "nustream/privacy/optimised.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

/// The error against p at n = 100p, ρ = .05, T = 10, γ = 5√p.
Figure dimension_figure(bool quick, bool anisotropic) {
  Collected all;
  for (const std::size_t p : {5U, 10U, 25U, 50U, 100U, 200U, 400U}) {
    if (quick && p > 50) continue;
    const std::size_t n = 100 * p;
    const int repetitions = quick ? 4 : p > 100 ? 20 : 100;
    std::map<std::string, std::vector<double>> samples;
    for (int r = 0; r < repetitions; ++r) {
      const auto seed = static_cast<std::uint64_t>(1000 * p) + static_cast<std::uint64_t>(r);
      const Problem problem = draw(p, n, anisotropic, seed);
      const double root = std::sqrt(static_cast<double>(p));
      samples["DP-GD"].push_back(distance(dpgd(problem, 5 * root, 0.05, 10, seed).last(), problem.least_squares));
      samples["OLS to truth"].push_back(distance(problem.least_squares, problem.truth));
      std::mt19937_64 bits(seed + 7);
      std::normal_distribution<double> normal;
      std::vector<double> normals(inference::adassp_normals(p));
      for (double& entry : normals) entry = normal(bits);
      samples["AdaSSP"].push_back(distance(
          inference::adassp(problem.table.view(), {root + 2, 4}, Rho{0.05}, privacy::Adjacency::zero_out, normals),
          problem.least_squares));
    }
    all.add("p", static_cast<double>(p), samples);
  }
  return {
      wrapped(anisotropic ? "figure 9: error against dimension, anisotropic" : "figure 1: error against dimension",
              all.rows, R"(, "adjacency": {"DP-GD": "replace-one", "AdaSSP": "zero-out"})"),
      line_chart("Distance to least squares, n = 100p, rho = .05, T = 10", {"p", true}, {"distance"}, all.all())};
}

/// The cost of privacy and of sampling against n: T = 30. Figure 2 has p = 10 and ρ = .5; figure 8 ρ = .015, p = 10
/// with 100 trials and p = 100 with 20.
Figure sample_figure(bool quick, std::size_t p, double rho, const char* title) {
  Collected all;
  const double gamma = 5 * std::sqrt(static_cast<double>(p));
  for (const std::size_t n : {1000U, 2000U, 4000U, 8000U, 16000U, 32000U, 64000U}) {
    if (quick && n > 8000) continue;
    std::map<std::string, std::vector<double>> samples;
    for (int r = 0; r < (quick ? (p > 10 ? 2 : 10) : p > 10 ? 20 : 100); ++r) {
      const auto seed = static_cast<std::uint64_t>(n) * 1000 + static_cast<std::uint64_t>(r);
      const Problem problem = draw(p, n, false, seed);
      samples["privacy"].push_back(distance(dpgd(problem, gamma, rho, 30, seed).last(), problem.least_squares));
      samples["sampling"].push_back(distance(problem.least_squares, problem.truth));
    }
    all.add("n", static_cast<double>(n), samples);
  }
  const std::string slopes = fmt::format(", \"slopes\": {{\"privacy\": {:.4f}, \"sampling\": {:.4f}}}",
                                         all.slope("privacy"), all.slope("sampling"));
  return {wrapped(title, all.rows, slopes),
          line_chart(fmt::format("Error due to privacy and to sampling, p = {}, rho = {}", p, rho), {"n", true},
                     {"distance", true}, all.all())};
}

/// The share of clipped gradients at γ/√p = .5, 1, 2, 3, with n = 100p, ρ = .05, T = 10, as in figure 1. The noise
/// keeps θ_t away from the minimum and so changes the share; the share without noise is given too.
Figure clipping_figure(bool quick) {
  Collected all;
  for (const double ratio : {0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0}) {
    std::map<std::string, std::vector<double>> samples;
    for (const std::size_t p : {5U, 10U, 20U, 40U}) {
      const double gamma = ratio * std::sqrt(static_cast<double>(p));
      for (int r = 0; r < (quick ? 5 : 200); ++r) {
        const auto seed = static_cast<std::uint64_t>(p * 1000) + static_cast<std::uint64_t>(r);
        const Problem problem = draw(p, 100 * p, false, seed);
        samples[fmt::format("p = {}", p)].push_back(dpgd(problem, gamma, 0.05, 10, seed).clipped_share);
        if (p != 10) continue;
        samples["p = 10, noise off"].push_back(dpgd(problem, gamma, 0.05, 10, std::nullopt).clipped_share);
      }
    }
    all.add("gamma over root p", ratio, samples);
  }
  return {wrapped("figure 3: share of clipped gradients", all.rows, R"(, "rho": 0.05, "steps": 10)"),
          line_chart("Share of clipped gradients, n = 100p", {"gamma / sqrt(p)"}, {"share"}, all.all())};
}

/// The error, bias and spread against γ, at p = 10, n = 2000, ρ = .015, T = 10.
Figure threshold_figure(bool quick) {
  Collected all;
  for (const double gamma : {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 13.0, 17.0}) {
    std::map<std::string, std::vector<double>> samples;
    for (int r = 0; r < (quick ? 20 : 300); ++r) {
      const auto seed = static_cast<std::uint64_t>(r) + 1;
      const Problem problem = draw(10, 2000, false, seed);
      const Iterates run = dpgd(problem, gamma, 0.015, 10, seed);
      samples["error"].push_back(distance(run.last(), problem.least_squares));
      samples["noise off"].push_back(
          distance(dpgd(problem, gamma, 0.015, 10, std::nullopt).last(), problem.least_squares));
      samples["clipped"].push_back(run.clipped_share);
    }
    all.add("gamma", gamma, samples);
  }
  const auto& errors = all.series["error"].points;
  const auto best = std::min_element(errors.begin(), errors.end(), [](auto& a, auto& b) { return a.y < b.y; });
  const double clipped = all.series["clipped"].points[static_cast<std::size_t>(best - errors.begin())].y;
  return {wrapped("figure 4: error against the clip norm", all.rows,
                  fmt::format(", \"best\": {{\"gamma\": {}, \"clipped\": {:.4f}}}", best->x, clipped)),
          line_chart("Error against the clip norm, p = 10, n = 2000, rho = .015", {"gamma"}, {"distance or share"},
                     all.all())};
}

/// Figure 7: error against the share that is clipped, for several T: p = 10, n = 2000, ρ = .015.
Figure shares_figure(bool quick) {
  Collected all;
  std::vector<Series> shown;
  for (const std::uint64_t steps : {5U, 10U, 20U, 40U}) shown.push_back({fmt::format("T = {}", steps), {}});
  for (const double gamma : {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 13.0, 17.0}) {
    std::map<std::string, std::vector<double>> samples;
    for (int r = 0; r < (quick ? 4 : 100); ++r) {
      const auto seed = static_cast<std::uint64_t>(r) + 1;
      const Problem problem = draw(10, 2000, false, seed);
      for (const std::uint64_t steps : {5U, 10U, 20U, 40U}) {
        const Iterates run = dpgd(problem, gamma, 0.015, steps, seed);
        samples[fmt::format("T = {}", steps)].push_back(distance(run.last(), problem.least_squares));
        samples[fmt::format("T = {}, clipped", steps)].push_back(run.clipped_share);
      }
    }
    all.add("gamma", gamma, samples);
    for (Series& one : shown) {
      const Point& error = all.series[one.name].points.back();
      one.points.push_back({all.series[one.name + ", clipped"].points.back().y, error.y, error.error});
    }
  }
  return {wrapped("figure 7: error against the share that is clipped", all.rows),
          line_chart("Distance to least squares, p = 10, n = 2000, rho = .015", {"share of clipped gradients"},
                     {"distance", true}, shown)};
}

/// Every correlation for T steps with k participations b steps apart.
std::map<std::string, noise::Correlation> correlations_for(std::uint64_t steps, const privacy::Participation& each) {
  std::map<std::string, noise::Correlation> all{
      {"independent", independent},
      {"nu = .1", noise::Correlation{noise::Rational::nu_ftrl(Damping{0.1})}},
      {"nu = .01", noise::Correlation{noise::Rational::nu_ftrl(Damping{0.01})}},
      {"prefix-sum optimum", noise::Correlation{noise::NuFtrl{Damping{0}, StepCount{steps}}}},
      {"tree", noise::Correlation{noise::Tree{static_cast<unsigned>(std::ceil(std::log2(steps))),
                                              noise::Tree::Estimator::plain, false}}}};
  // This one is fitted to these very participations, with the most bands under which no two of them meet.
  const privacy::PrefixSums problem{StepCount{steps}, each, privacy::PrefixError::mean};
  const auto bands = static_cast<std::size_t>(std::min(each.separation(), steps));
  all.emplace("optimised, banded", privacy::optimised_dense(problem, bands));
  all.emplace("optimised, 4 poles", privacy::optimised_rational(problem, 4));
  return all;
}

/// Our own figure: the same budget, steps and records under other correlations, at p = 10, n = 2000, ρ = .015. Every
/// step is over all records, or over a tenth of them.
Figure correlation_figure(bool quick, std::size_t parts) {
  Collected all;
  constexpr std::size_t n = 2000;
  const double gamma = 5 * std::sqrt(10.0);
  for (const std::uint64_t steps : {10U, 20U, 40U, 80U, 160U}) {
    const privacy::Participation each{(steps + parts - 1) / parts, parts};
    const auto correlations = correlations_for(steps, each);
    std::map<std::string, std::vector<double>> samples;
    for (int r = 0; r < (quick ? 10 : 200); ++r) {
      const auto seed = static_cast<std::uint64_t>(r) + 1;
      const Problem problem = draw(10, n, false, seed);
      for (const auto& [name, correlation] : correlations) {
        const StageBudget budget{0.015};
        const Iterates run = minibatch_descent(plain_descent(10, gamma, eta), problem.table, steps, n / parts,
                                               correlation, {&budget, 1}, seed);
        samples[name].push_back(distance(run.last(), problem.least_squares));
      }
    }
    all.add("steps", static_cast<double>(steps), samples);
  }
  const char* const title = parts == 1 ? "correlations under full batches" : "correlations under minibatches";
  return {wrapped(title, all.rows), line_chart(parts == 1 ? "Distance to least squares at equal rho, T, n"
                                                          : "The same, a tenth of the records a step",
                                               {"steps", true}, {"distance", true}, all.all())};
}

}  // namespace

int main(int argc, char** argv) {
  using Arguments = FigureArguments;
  const auto coverage = [](const char* name, bool anisotropic) {
    return NamedFigure{name, [=](const Arguments& arguments) {
                         auto [covered, wide] = coverage_figures(arguments.quick, anisotropic);
                         std::vector<std::pair<std::string, Figure>> both;
                         both.emplace_back(name, std::move(covered));
                         both.emplace_back(std::string(name) + "_width", std::move(wide));
                         return both;
                       }};
  };
  return draw_figures(
      "dpgd",
      {single("dimension", [](const Arguments& arguments) { return dimension_figure(arguments.quick, false); }),
       single("samples",
              [](const Arguments& arguments) {
                return sample_figure(arguments.quick, 10, 0.5, "figure 2: the cost of privacy");
              }),
       single("samples_10",
              [](const Arguments& arguments) {
                return sample_figure(arguments.quick, 10, 0.015, "figure 8 (a): the cost of privacy");
              }),
       single("samples_100",
              [](const Arguments& arguments) {
                return sample_figure(arguments.quick, 100, 0.015, "figure 8 (b): the cost of privacy");
              }),
       single("shares", [](const Arguments& arguments) { return shares_figure(arguments.quick); }),
       single("clipping", [](const Arguments& arguments) { return clipping_figure(arguments.quick); }),
       single("threshold", [](const Arguments& arguments) { return threshold_figure(arguments.quick); }),
       coverage("coverage", false),
       single("ends", [](const Arguments& arguments) { return ends_figure(arguments.quick); }),
       single("dimension_anisotropic",
              [](const Arguments& arguments) { return dimension_figure(arguments.quick, true); }),
       coverage("coverage_anisotropic", true),
       single("correlations", [](const Arguments& arguments) { return correlation_figure(arguments.quick, 1); }),
       single("correlations_minibatch",
              [](const Arguments& arguments) { return correlation_figure(arguments.quick, 10); })},
      argc, argv);
}
