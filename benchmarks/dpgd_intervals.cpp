#include "dpgd.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "nustream/inference/interval.h"

namespace nustream::benchmarks {
namespace {

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

/// The mean of the `averaged` iterates up to step `end` of a path, as intervals.averaged takes it.
std::vector<double> averaged_end(const Iterates& path, std::size_t end, std::size_t averaged) {
  std::vector<double> mean(path.dimension);
  for (std::size_t t = end - averaged; t < end; ++t) {
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += path.at(t)[j] / static_cast<double>(averaged);
  }
  return mean;
}

}  // namespace

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
  std::vector<Series> wide = widths.all();
  if (!anisotropic) {  // where Σ is not the identity, each coefficient has a width of its own
    constexpr double textbook = 2 * 1.959964 / 100;  // 2 · 1.96/√n
    Series line{"least squares", {}, false, true};
    for (const Point& point : wide.front().points) line.points.push_back({point.x, textbook});
    wide.push_back(std::move(line));
  }
  return {
      {wrapped(fmt::format("figure {}: coverage{}", anisotropic ? 10 : 5, suffix).c_str(), coverages.rows),
       line_chart("Coverage of nominal 95% intervals", {"steps of all runs", true}, {"coverage"}, coverages.all())},
      {wrapped(fmt::format("figure {}: width{}", anisotropic ? 11 : 6, suffix).c_str(), widths.rows),
       line_chart("Width of nominal 95% intervals", {"steps of all runs", true}, {"width", true}, wide)}};
}

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

}  // namespace nustream::benchmarks
