// Reproduces the figures of BDE+ (DP-GD for linear regression): reproduce_dpgd FIGURE… [--quick] [--out FOLDER]. Each
// becomes FOLDER/dpgd_FIGURE.json and .svg. The setting is x ~ N(0, I), y = xᵀθ* + N(0, 1) with θ* on the unit
// sphere, η = ¼, θ_0 = 0, replace-one. "anisotropic" draws Σ = UΛUᵀ with Λ = 2, 1, U[1, 2]… as appendix B does.
#include <Eigen/Dense>

#include <array>
#include <functional>
#include <map>
#include <random>
#include <string>

#include "figure.h"
#include "full_batch.h"
#include "nustream/inference/adassp.h"
#include "nustream/inference/interval.h"
#include "nustream/privacy/optimised.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

const noise::Correlation independent{noise::Independent{}};
constexpr double eta = 0.25;

struct Problem {
  MemoryTable table;
  std::vector<double> truth;
  std::vector<double> least_squares;
};

Eigen::MatrixXd spread_of(std::size_t p, bool anisotropic, std::mt19937_64& bits) {
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

Problem draw(std::size_t p, std::size_t n, bool anisotropic, std::uint64_t seed) {
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

Iterates dpgd(const Problem& problem, double gamma, double rho, std::uint64_t steps, std::optional<std::uint64_t> key,
              const noise::Correlation& correlation = independent) {
  const StageBudget budget{rho};
  return full_batch_descent(plain_descent(problem.table.dimension, gamma, eta), problem.table, steps, correlation,
                            {&budget, 1}, key);
}

std::string point_json(const char* axis, double x, const std::map<std::string, std::vector<double>>& samples) {
  std::string out = fmt::format("{{\"{}\": {}", axis, x);
  for (const auto& [name, values] : samples) {
    const Estimate found = estimate(values);
    out += fmt::format(", \"{}\": {{\"mean\": {:.6g}, \"standard_error\": {:.2g}}}", name, found.mean,
                       found.standard_error);
  }
  return out + fmt::format(", \"repetitions\": {}}}", samples.begin()->second.size());
}

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

std::string wrapped(const char* title, const std::string& rows, const std::string& more = "") {
  return fmt::format("{{\"figure\": \"{}\", \"source\": \"BDE+\"{},\n  \"points\": [{}]}}\n", title, more, rows);
}

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

using Values = std::vector<std::span<const double>>;

/// Notes whether the interval of coordinate j of the values holds θ̂_j, and how wide it is.
void tally(const Values& values, const std::vector<double>& target, const std::string& name,
           std::map<std::string, std::vector<double>>& coverage, std::map<std::string, std::vector<double>>& width) {
  double held = 0;
  double wide = 0;
  for (std::size_t j = 0; j < target.size(); ++j) {
    std::vector<double> of_coordinate;
    for (const auto& value : values) of_coordinate.push_back(value[j]);
    const auto interval = *inference::t_interval(of_coordinate, 0.95);
    held += interval.lower() <= target[j] && target[j] <= interval.upper() ? 1 : 0;
    wide += 2 * interval.half_width;
  }
  coverage[name].push_back(held / static_cast<double>(target.size()));
  width[name].push_back(wide / static_cast<double>(target.size()));
}

/// The coverage and width against the number of steps, at p = 10, n = 10,000, ρ = .015, m = 10, burn-in 20.
std::pair<Figure, Figure> coverage_figures(bool quick, bool anisotropic) {
  Collected coverages;
  Collected widths;
  constexpr std::size_t m = 10;
  constexpr std::size_t burn_in = 20;
  const double gamma = 5 * std::sqrt(10.0);
  for (const std::size_t steps : {120U, 220U, 420U, 1020U}) {
    if (quick && steps > 220) continue;
    std::map<std::string, std::vector<double>> coverage;
    std::map<std::string, std::vector<double>> width;
    for (int r = 0; r < (quick ? 10 : 400); ++r) {
      const auto seed = static_cast<std::uint64_t>(steps) * 1000 + static_cast<std::uint64_t>(r);
      const Problem problem = draw(10, 10'000, anisotropic, seed);
      const Iterates one = dpgd(problem, gamma, 0.015, steps, seed);
      const std::size_t spacing = (steps - burn_in) / m;
      Values checkpoints;
      std::vector<std::vector<double>> means(m, std::vector<double>(10));
      Values batches;
      for (std::size_t i = 0; i < m; ++i) {
        checkpoints.push_back(one.at(burn_in + (i + 1) * spacing - 1));
        for (std::size_t t = burn_in + i * spacing; t < burn_in + (i + 1) * spacing; ++t) {
          for (std::size_t j = 0; j < 10; ++j) means[i][j] += one.at(t)[j] / static_cast<double>(spacing);
        }
        batches.push_back(means[i]);
      }
      tally(checkpoints, problem.least_squares, "checkpoints", coverage, width);
      tally(batches, problem.least_squares, "batch means", coverage, width);
      std::vector<Iterates> runs;
      Values finals;
      for (std::size_t i = 0; i < m; ++i) {
        runs.push_back(dpgd(problem, gamma, 0.015 / m, steps / m, seed * 100 + i));
      }
      for (const Iterates& run : runs) finals.push_back(run.last());
      tally(finals, problem.least_squares, "runs", coverage, width);
    }
    coverages.add("steps", static_cast<double>(steps), coverage);
    widths.add("steps", static_cast<double>(steps), width);
  }
  const char* const suffix = anisotropic ? ", anisotropic" : "";
  return {
      {wrapped(fmt::format("figure {}: coverage{}", anisotropic ? 10 : 5, suffix).c_str(), coverages.rows),
       line_chart("Coverage of nominal 95% intervals", {"steps of all runs", true}, {"coverage"}, coverages.all())},
      {wrapped(fmt::format("figure {}: width{}", anisotropic ? 11 : 6, suffix).c_str(), widths.rows),
       line_chart("Width of nominal 95% intervals", {"steps of all runs", true}, {"width", true}, widths.all())}};
}

/// The mean of the `averaged` iterates up to step `end` of a path, as intervals.averaged takes it.
std::vector<double> averaged_end(const Iterates& path, std::size_t end, std::size_t averaged) {
  std::vector<double> mean(path.dimension);
  for (std::size_t t = end - averaged; t < end; ++t) {
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += path.at(t)[j] / static_cast<double>(averaged);
  }
  return mean;
}

/// Intervals from means of the last iterates instead of the last one (section 3.1, appendix B): runs of N/10 steps
/// after their burn-in of 20, for which 120 steps have no room, and checkpoints of one run, over half of their
/// distance. The last iterates and batch means are shown beside them. The setting is that of coverage_figures().
Figure ends_figure(bool quick) {
  Collected all;
  Collected widths;
  constexpr std::size_t m = 10;
  constexpr std::size_t burn_in = 20;
  const double gamma = 5 * std::sqrt(10.0);
  for (const std::size_t steps : {220U, 420U, 1020U}) {
    if (quick && steps > 220) continue;
    std::map<std::string, std::vector<double>> coverage;
    std::map<std::string, std::vector<double>> width;
    for (int r = 0; r < (quick ? 10 : 300); ++r) {
      const auto seed = static_cast<std::uint64_t>(steps) * 100'000 + static_cast<std::uint64_t>(r);
      const Problem problem = draw(10, 10'000, false, seed);
      const Iterates one = dpgd(problem, gamma, 0.015, steps, seed);
      std::map<std::string, std::vector<std::vector<double>>> values;
      const std::size_t spacing = (steps - burn_in) / m;
      for (std::size_t i = 0; i < m; ++i) {
        const std::size_t end = burn_in + (i + 1) * spacing;
        values["checkpoints, last"].push_back(averaged_end(one, end, 1));
        values["checkpoints, averaged"].push_back(averaged_end(one, end, spacing / 2));
        values["batch means"].push_back(averaged_end(one, end, spacing));
        const Iterates run = dpgd(problem, gamma, 0.015 / m, steps / m, seed * 100 + i);
        values["runs, last"].push_back(averaged_end(run, steps / m, 1));
        values["runs, averaged"].push_back(averaged_end(run, steps / m, steps / m - burn_in));
      }
      for (const auto& [name, of_name] : values) {
        tally(Values(of_name.begin(), of_name.end()), problem.least_squares, name, coverage, width);
      }
    }
    widths.add("steps", static_cast<double>(steps), width);
    for (const auto& [name, covered] : coverage) width[name + ", coverage"] = covered;
    all.add("steps", static_cast<double>(steps), width);
  }
  return {wrapped("averaged ends: width and coverage", all.rows),
          line_chart("Width of nominal 95% intervals of runs and checkpoints", {"steps of all runs", true},
                     {"width", true}, widths.all())};
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
  // This one is fitted to these very participations, with as many bands as keep any two of them from meeting.
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
